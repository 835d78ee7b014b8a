import { otherName, type PolicyOf, prefix, replaced, written } from '../histories/policies.ts';
import type { Chances } from '../world/chances.ts';
import type { Happening, Stage } from './happening.ts';

/** What the operator does, at any moment of a run. */

/** Rewrites or removes one policy's parameter. */
const rewritten =
  (text: (policy: PolicyOf, chances: Chances) => object | string | undefined) =>
  ({ world, policies }: Stage, chances: Chances): void => {
    const policy = chances.pick(policies);
    const next = text(policy, chances);
    const source =
      next === undefined
        ? undefined
        : typeof next === 'string'
          ? { name: policy.parameter, text: next }
          : written(policy, next);
    world.policies = replaced(world.policies, policy.parameter, source);
  };

/** Spellings of one address, and other ways to the same server. */
export const spellings = ['http://GMS.test:8080', 'http://gms.test.:8080', 'HTTP://gms.test:8080'] as const;
export const otherWays = ['https://datahub.test/api/gms', 'http://localhost:18080', 'http://127.0.0.1:18080'] as const;

export const operator = {
  pauses: { says: 'the switch is set', happen: ({ world }) => world.setPaused(true) },
  resumes: { says: 'the switch is taken back', happen: ({ world }) => world.setPaused(false) },
  'retention changes': {
    says: 'a policy keeps its rows for longer, or not so long',
    happen: rewritten((_, chances) => ({ retentionDays: chances.pick([20, 45, 60, 365]) })),
  },
  'strategy changes': {
    says: 'a policy wants another strategy',
    happen: rewritten((_, chances) => ({
      strategy: chances.pick(['delete-by-query', 'delete-by-query-only', 'reindex']),
    })),
  },
  'limits change': {
    says: 'a policy gets another threshold, ceiling, bite or batch size',
    happen: rewritten((_, chances) =>
      chances.pick([
        { minDeletePercent: 50 },
        { maxDeletePercent: 30 },
        { batchSize: 25 },
        { timeoutSeconds: 90 },
        { maxRowsPerRun: 20 },
      ]),
    ),
  },
  'policy off': { says: 'a policy is switched off', happen: rewritten(() => ({ enabled: false })) },
  'policy gone': { says: 'a policy is deleted', happen: rewritten(() => undefined) },
  'policy broken': { says: 'a policy can no longer be read', happen: rewritten(() => '{"entityType": "dataset", ') },
  'owner changes': {
    says: 'a field that means nothing to the job',
    happen: rewritten((_, chances) => ({ owner: `team-${chances.between(1, 9)}`, note: 'see the wiki' })),
  },
  'policy twice': {
    says: 'a second policy for the same index, in other case',
    happen: ({ world, policies }, chances) => {
      const policy = chances.pick(policies);
      const name = `${prefix}${policy.entityType}.${policy.aspect}-2`;
      const { text } = written(policy, { entityType: policy.entityType.toUpperCase() });
      world.policies = [...world.policies, { name, text }];
    },
  },
  'index renamed': {
    says: 'the policy’s index is written differently: `a_b.c` and `a.b_c` are one search index',
    happen: ({ world, policies }) => {
      for (const policy of policies) {
        const other = otherName[policy.name];
        if (!other) continue;
        const [entityType, aspect] = other;
        const renamed = { ...policy, entityType, aspect, parameter: `${prefix}${entityType}.${aspect}` };
        world.policies = [...replaced(world.policies, policy.parameter, undefined), written(renamed)];
      }
    },
  },
  'mode changes': {
    says: 'a deployment makes the stage a preview, or an enforcing one',
    happen: ({ world }) => {
      world.settings = { ...world.settings, mode: world.settings.mode === 'enforce' ? 'preview' : 'enforce' };
    },
  },
  'address respelled': {
    says: 'a deployment writes the same address differently',
    happen: ({ world }, chances) => {
      world.settings = { ...world.settings, gmsUrl: chances.pick(spellings) };
    },
  },
  'address changed': {
    says: 'a deployment takes another way to the same server',
    happen: ({ world }, chances) => {
      world.settings = { ...world.settings, gmsUrl: chances.pick(otherWays) };
    },
  },
  'stage renamed': {
    says: 'a deployment gives the stage another name, with the same ledger',
    happen: ({ world }) => {
      world.settings = { ...world.settings, stage: 'renamed' };
    },
  },
  'floor raised': {
    says: 'a deployment raises or lowers minRetentionDays',
    happen: ({ world }, chances) => {
      const minRetentionDays = chances.pick([1, 25, 30, 40]);
      world.settings = { ...world.settings, minRetentionDays };
      // Exactly the retention of most policies: only then does a start slightly ahead make a difference.
      if (minRetentionDays === 30) world.clocks.starts = 30_000;
    },
  },
  'stage takes bites': {
    says: 'a deployment sets or lifts maxRowsPerRun for all policies',
    happen: ({ world }, chances) => {
      const { maxRowsPerRun: _, ...settings } = world.settings;
      world.settings = { ...settings, ...chances.pick([{}, { maxRowsPerRun: 25 }, { maxRowsPerRun: 120 }]) };
    },
  },
  'server replaced': {
    says: 'another DataHub answers at the address, with rows of its own, for a day or until somebody sees it',
    happen: ({ world }) => {
      const stranger = world.servers[1];
      if (stranger) world.front = stranger;
    },
  },
  'server back': {
    says: 'the proper one is back',
    happen: ({ world }) => {
      world.front = world.servers[0];
    },
  },
  'token renewed': {
    says: 'the old token is refused, and the new one put in place before, or a while after',
    happen: ({ world }, chances) => {
      const fresh = `token-${chances.between(1000, 9999)}-${world.time.now()}`;
      const [first, second] = chances.happens(0.5)
        ? ['valid' as const, 'given' as const]
        : ['given' as const, 'valid' as const];
      world.token[first] = fresh;
      world.time.at(world.time.now() + chances.pick([1000, 60_000, 1_800_000]), () => {
        world.token[second] = fresh;
      });
    },
  },
  'ledger tail cut': {
    says: 'a kill cuts the last line of the ledger file short',
    happen: ({ world }) => world.ledger.damageTail('cut'),
  },
  'ledger tail zeroed': {
    says: 'a power loss fills the end of the ledger file with zeros',
    happen: ({ world }, chances) => world.ledger.damageTail(chances.pick(['zeros', 'both'])),
  },
  'run by hand': {
    says: 'another execution, enforcing or as a preview',
    happen: (stage, chances) => {
      const mode = chances.pick(['enforce', 'enforce', 'preview']);
      stage.begin(`by-hand-${stage.night}-${chances.between(1, 99_999)}`, { mode });
    },
  },
  'run from elsewhere': {
    says: 'a second deployment with the same ledger, and another address of the same server',
    happen: (stage, chances) => {
      const gmsUrl = chances.pick([...spellings, ...otherWays]);
      stage.begin(`elsewhere-${stage.night}-${chances.between(1, 99_999)}`, {}, { settings: { gmsUrl } });
    },
  },
  'run of one index': {
    says: 'a run about one policy',
    happen: (stage, chances) => {
      const { entityType, aspect } = chances.pick(stage.policies);
      stage.begin(`only-${stage.night}-${chances.between(1, 99_999)}`, { only: [`${entityType}.${aspect}`] });
    },
  },
  clears: {
    says: 'asks to open an index again, with or without accepting missing rows, whether or not it is closed',
    happen: (stage, chances) => {
      const { entityType, aspect } = chances.pick(stage.policies);
      const accept = chances.pick([{}, {}, { acceptMissing: chances.pick([1, 30, 1000]) }]);
      stage.begin(`clear-${stage.night}-${chances.between(1, 99_999)}`, {
        clear: [`${entityType}.${aspect}`],
        ...accept,
      });
    },
  },
  approves: {
    says: 'lets one policy pass its ceiling, up to so many rows',
    happen: (stage, chances) => {
      const { entityType, aspect } = chances.pick(stage.policies);
      const input = { only: [`${entityType}.${aspect}`], approveRows: chances.pick([10, 300, 10_000]) };
      stage.begin(`approve-${stage.night}-${chances.between(1, 99_999)}`, input);
    },
  },
} as const satisfies Record<string, Happening>;
