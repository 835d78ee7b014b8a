import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import { systemClock } from '../facts/clock.ts';
import { answerTimeoutMillis, connectTimeoutMillis, readAttempts } from '../facts/limits.ts';
import { dynamoDbClient, dynamoDbLedger } from '../ledger/dynamodb.ts';
import { dynamoDbNights } from '../memory/dynamodb.ts';
import { createOperations } from '../operations/http/http-operations.ts';
import { createHttpTransport } from '../operations/http/http-transport.ts';
import { lookup } from '../operations/http/lookup.ts';
import { realSleep } from '../operations/http/sleep.ts';
import type { Transport } from '../operations/http/transport.ts';
import type { TokenSource } from '../operations/operations.ts';
import { ParametersError, type RunServices } from '../run/services.ts';
import { type RunLog, runLog } from '../telemetry/log.ts';
import { type EnvironmentOf, readEnvironment } from './environment.ts';
import { runSettings } from './run-settings.ts';
import { type SsmParameters, ssmClient, ssmParameters } from './ssm.ts';

/**
 * Creates what a step needs on Lambda. Called once per container: clients and the token in memory outlive an
 * invocation.
 * @returns a function that calls the step with the services of one invocation and closes its connections afterwards
 */
export function lambdaServices(step: 'plan' | 'truncate' | 'poll') {
  const environment: EnvironmentOf<'plan' | 'truncate' | 'poll'> & {
    POLICIES_PATH?: string;
    PAUSED_PARAMETER?: string;
    NIGHTS_TABLE?: string;
  } = readEnvironment(step, process.env);
  const settings = runSettings(environment);
  const parameters = ssmParameters(
    {
      token: environment.TOKEN_PARAMETER,
      ...(environment.POLICIES_PATH !== undefined && { policiesPath: environment.POLICIES_PATH }),
      ...(environment.PAUSED_PARAMETER !== undefined && { paused: environment.PAUSED_PARAMETER }),
      ...(environment.CA_CERTIFICATE_PARAMETER !== undefined && {
        caCertificate: environment.CA_CERTIFICATE_PARAMETER,
      }),
    },
    ssmClient(),
  );
  const client = dynamoDbClient();
  const ledger = dynamoDbLedger({ table: environment.LEDGER_TABLE, ledger: settings.stage, client });
  const nights =
    environment.NIGHTS_TABLE === undefined
      ? {}
      : { nights: dynamoDbNights({ table: environment.NIGHTS_TABLE, client }) };

  return async <Result>(
    runId: string,
    context: Pick<Context, 'getRemainingTimeInMillis'>,
    call: (services: RunServices) => Promise<Result>,
  ): Promise<Result> => {
    const deadline = Date.now() + context.getRemainingTimeInMillis();
    const log = runLog({ stage: settings.stage, runId, step });
    const transport = lazyTransport(parameters);
    const token = access(parameters, transport, log);
    const operations = createOperations({
      baseUrl: settings.gmsUrl,
      token,
      transport,
      attempts: readAttempts,
      realNow: systemClock.realNow,
      sleep: realSleep,
      random: Math.random,
    });
    try {
      return await call({
        settings,
        parameters: { ...parameters, token },
        operations,
        ledger,
        ...nights,
        surroundings: { onLambda: true, lookup },
        clock: systemClock,
        log,
        newId: randomUUID,
        deadline: () => deadline,
      });
    } finally {
      await transport.close();
    }
  };
}

type LazyTransport = Transport & { open(): Promise<Transport>; close(): Promise<void> };

/**
 * A transport that reads the private authority's certificates on first use. Its connections do not outlive an
 * invocation: a container that was frozen in between would wake up with dead ones.
 */
function lazyTransport(parameters: SsmParameters): LazyTransport {
  let opened: Promise<ReturnType<typeof createHttpTransport>> | undefined;
  const open = () => {
    opened ??= parameters.caCertificate().then((caPem) => {
      try {
        return createHttpTransport({
          connectTimeoutMillis,
          answerTimeoutMillis,
          ...(caPem !== undefined && { caPem }),
        });
      } catch (error) {
        throw new ParametersError(`The certificate of GMS's authority cannot be used: ${(error as Error).message}`);
      }
    });
    return opened;
  };
  return {
    open,
    post: async (exchange, signal) => (await open()).post(exchange, signal),
    postOnce: async (exchange, maySend) => (await open()).postOnce(exchange, maySend),
    close: async () => {
      await opened?.then((transport) => transport.close()).catch(() => {});
    },
  };
}

/**
 * The token, kept out of the log from the moment it is read. Reading it also reads the certificates, because access
 * needs both: Plan then reports a wrong parameter as such, before any request.
 */
function access({ token }: SsmParameters, transport: LazyTransport, log: RunLog): TokenSource {
  const shown = async (read: () => Promise<string>) => {
    const value = await read();
    log.neverShow(value);
    await transport.open();
    return value;
  };
  return { get: () => shown(token.get), reread: () => shown(token.reread) };
}
