import type { Context } from 'aws-lambda';
import { createOperations } from '../gms/http/http-operations.ts';
import { createHttpTransport } from '../gms/http/http-transport.ts';
import { type Identity, type IdentitySource, secretsOf } from '../gms/identity.ts';
import type { Transport } from '../gms/transport.ts';
import { ParametersError, type RunServices } from '../run/services.ts';
import { systemClock } from '../truncation/clock.ts';
import { dynamoDbLedger } from './dynamodb.ts';
import { type EnvironmentOf, readEnvironment, runSettings } from './environment.ts';
import { type RunLog, runLog } from './log.ts';
import { type SsmParameters, ssmParameters } from './ssm.ts';

/**
 * Creates what a step needs on Lambda. Called once per container: clients and the identity in memory outlive an
 * invocation.
 * @returns a function that calls the step with the services of one invocation and closes its connections afterwards
 */
export function lambdaServices(step: 'plan' | 'truncate' | 'poll') {
  const environment: EnvironmentOf<'poll'> & Partial<EnvironmentOf<'plan'>> = readEnvironment(step, process.env);
  const settings = runSettings(environment);
  const parameters = ssmParameters(environment);
  const ledger = dynamoDbLedger({ table: environment.LEDGER_TABLE, stage: settings.stage });

  let lastRunId: string | undefined;
  let coldStart = true;

  return async <Result>(
    runId: string,
    context: Pick<Context, 'getRemainingTimeInMillis' | 'awsRequestId'>,
    call: (services: RunServices) => Promise<Result>,
  ): Promise<Result> => {
    const deadline = systemClock.now() + context.getRemainingTimeInMillis();
    const log = runLog({ stage: settings.stage, runId, step, requestId: context.awsRequestId, coldStart });
    coldStart = false;
    const transport = lazyTransport(parameters);
    const identity = redactedIdentity(parameters, transport, log);
    // Each run reads the identity again: a warm function may still hold an old one (rule 13).
    if (runId !== lastRunId) parameters.forgetIdentity();
    lastRunId = runId;
    const operations = createOperations({ baseUrl: settings.gmsUrl, identity, transport });
    try {
      return await call({
        settings,
        parameters: { ...parameters, identity },
        operations,
        ledger,
        clock: systemClock,
        log,
        deadline: () => deadline,
      });
    } finally {
      await transport.close();
    }
  };
}

type LazyTransport = Transport & { open(): Promise<Transport>; close(): Promise<void> };

/**
 * A transport that reads the private authority's certificates on first use. Its connections are closed after each
 * invocation, because those of a container that is frozen in between are dead when it wakes up.
 */
function lazyTransport(parameters: SsmParameters): LazyTransport {
  let opened: Promise<ReturnType<typeof createHttpTransport>> | undefined;
  const open = () => {
    opened ??= parameters.caCertificate().then((caPem) => {
      try {
        return createHttpTransport({ ca: caPem === undefined ? undefined : () => caPem });
      } catch (error) {
        throw new ParametersError(`The certificate of GMS's authority cannot be used: ${(error as Error).message}`);
      }
    });
    return opened;
  };
  return {
    open,
    post: async (request, signal) => (await open()).post(request, signal),
    postAtMostOnce: async (request, maySend) => (await open()).postAtMostOnce(request, maySend),
    close: async () => {
      await opened?.then((transport) => transport.close()).catch(() => {});
    },
  };
}

/**
 * The identity, kept out of the log from the moment it is read. Reading it also reads the certificates, because access
 * needs both: Plan then reports a wrong parameter as such, before any request.
 */
function redactedIdentity({ identity }: SsmParameters, transport: LazyTransport, log: RunLog): IdentitySource {
  const hidden = async (read: () => Promise<Identity>) => {
    const value = await read();
    for (const secret of secretsOf(value)) log.addRedaction(secret);
    await transport.open();
    return value;
  };
  return { ...identity, get: () => hidden(identity.get), reread: () => hidden(identity.reread) };
}
