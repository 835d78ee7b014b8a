import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { ParametersError } from '../../../lambda/run/services.ts';
import { anIndexOf, type Nights, policyFor, twoIndices } from './night.ts';

/** Nights in which the run as a whole could not do its work. */
export const runErrors: Nights = {
  'token-refused': {
    async play(begin) {
      const { night } = await begin({
        indices: [],
        policies: Array.from({ length: 48 }, (_, at) => policyFor(`aspect${String(at + 1).padStart(2, '0')}`)),
        faults: ['unauthorized-empty'],
      });
      return night();
    },
  },

  'server-down': {
    async play(begin) {
      const deployment = await begin(twoIndices);
      await deployment.service.close();
      return deployment.night();
    },
  },

  'no-policy': {
    async play(begin) {
      return (await begin({ policies: [] })).night();
    },
  },

  'wrong-input': {
    async play(begin) {
      return (await begin(twoIndices)).night({ only: ['dataset.operations'] });
    },
  },

  'ledger-out-of-reach': {
    async play(begin) {
      const deployment = await begin(twoIndices);
      deployment.services.ledger = {
        ...deployment.ledger,
        list: () =>
          Promise.reject(
            new LedgerError(
              'The ledger table datahub-retention-prod could not be read (AccessDeniedException): the Plan function needs dynamodb:Query on it.',
            ),
          ),
      };
      return deployment.night();
    },
  },
};

/** Nights in which a function of ours failed, or a single policy was refused. */
export const refusals: Nights = {
  'token-parameter-missing': {
    async play(begin) {
      const deployment = await begin(twoIndices);
      deployment.services.parameters.token.get = () =>
        Promise.reject(
          new ParametersError(
            "The parameter /datahub-retention/prod/token, which holds DataHub's token, does not exist: store it as a SecureString.",
          ),
        );
      return deployment.night();
    },
  },

  'plan-broke-down': {
    async play(begin) {
      const deployment = await begin(twoIndices);
      deployment.services.parameters.policies = () => Promise.reject(new TypeError('no such thing'));
      return deployment.night();
    },
  },

  'truncate-broke-down': {
    async play(begin) {
      const deployment = await begin(twoIndices);
      const { ledger } = deployment;
      deployment.services.ledger = {
        ...ledger,
        replace(previous, next) {
          if (next.state === 'sending') throw new LedgerError('the ledger could not be written');
          return ledger.replace(previous, next);
        },
      };
      return deployment.night();
    },
  },

  'privilege-missing': {
    async play(begin) {
      const { night } = await begin({ ...twoIndices, faults: ['denied=truncate'] });
      return night();
    },
  },

  'wrong-policies': {
    async play(begin) {
      const { night } = await begin({
        indices: [anIndexOf(12_000, 18_000)],
        policies: [policyFor('operation'), policyFor('operatoin'), policyFor('datasetProfile', { retentionDay: 30 })],
      });
      return night();
    },
  },
};

/** A gateway's answer in front of GMS, whatever it passed on. */
export const gateways: Nights = {
  'gateway-403': {
    async play(begin) {
      const deployment = await begin(twoIndices);
      deployment.service.engine.onRequest = ({ body }) =>
        body.includes('dryRun')
          ? { kind: 'fail-before', answer: { kind: 'status', status: 403, body: 'RBAC: access denied' } }
          : undefined;
      return deployment.night();
    },
  },

  'gateway-403-to-the-truncation': {
    async play(begin) {
      const deployment = await begin(twoIndices);
      deployment.service.engine.onRequest = ({ body }) =>
        body.includes('"dryRun":false')
          ? { kind: 'fail-before', answer: { kind: 'status', status: 403, body: 'RBAC: access denied' } }
          : undefined;
      return deployment.night();
    },
  },

  'gateway-504-that-acted': {
    async play(begin) {
      return (await begin({ indices: [anIndexOf(12_000, 18_000)], faults: ['gateway-timeout'] })).night();
    },
  },

  'login-page': {
    async play(begin) {
      return (await begin({ ...twoIndices, faults: ['login-page'] })).night();
    },
  },

  'too-slow': {
    async play(begin) {
      const deployment = await begin(twoIndices);
      const { operations } = deployment.services;
      deployment.services.operations = {
        ...operations,
        async dryRun(fields, options) {
          const answer = await operations.dryRun(fields, options);
          if (fields.aspect === 'operation') deployment.clock.time += 880_000;
          return answer;
        },
      };
      return deployment.night();
    },
  },
};
