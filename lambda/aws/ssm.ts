import {
  GetParameterCommand,
  GetParametersByPathCommand,
  ParameterNotFound,
  SSMClient,
  type SSMClientConfig,
} from '@aws-sdk/client-ssm';
import { problemOfCertificate } from '../gms/client-certificate.ts';
import { problemOfHeaders, readHeaders } from '../gms/headers.ts';
import type { Identity, IdentitySource } from '../gms/identity.ts';
import { tokenProblem } from '../gms/secrets.ts';
import type { PolicyText } from '../policy/parse.ts';
import { type Parameters, ParametersError } from '../run/services.ts';
import { denied, isDenied, timeouts } from './calls.ts';
import type { EnvironmentOf } from './environment.ts';

/** Names in Parameter Store. A function that does not need a parameter gets neither its name nor the permission. */
type ParameterNames = Partial<EnvironmentOf<'plan'>>;

export interface SsmParameters extends Parameters {
  /** PEM certificates of a private authority; undefined if none is configured. Throws ParametersError. */
  caCertificate(): Promise<string | undefined>;
  forgetIdentity(): void;
}

/**
 * What the operator keeps in AWS Systems Manager Parameter Store. Every failure is a ParametersError that names the
 * parameter and the remedy. The identity is kept in memory, and appears in no message.
 */
export function ssmParameters(
  names: ParameterNames,
  given: SSMClient = ssmClient(),
  callMillis = defaultCallMillis,
): SsmParameters {
  const client: Pick<SSMClient, 'send'> = {
    send: (command: never) => given.send(command, { abortSignal: AbortSignal.timeout(callMillis) }),
  };
  const parameter = async (name: string): Promise<ParameterValue | undefined> => {
    try {
      const { Parameter } = await client.send(new GetParameterCommand({ Name: name, WithDecryption: true }));
      return { text: Parameter?.Value ?? '', at: Parameter?.LastModifiedDate?.getTime() };
    } catch (error) {
      if (error instanceof ParameterNotFound) return undefined;
      throw unreadable(name, error);
    }
  };
  const read = async (name: string) => (await parameter(name))?.text;
  const identity = identitySource(names, parameter);
  return {
    forgetIdentity: identity.forget,
    policies: () => readPolicies(required(names.POLICIES_PATH, 'policies'), client),
    async paused() {
      const value = await read(required(names.PAUSED_PARAMETER, 'the pause switch'));
      return value !== undefined && value.trim().toLowerCase() !== 'false';
    },
    identity,
    async caCertificate() {
      if (names.CA_CERTIFICATE_PARAMETER === undefined) return undefined;
      const pem = await read(names.CA_CERTIFICATE_PARAMETER);
      if (pem?.includes('-----BEGIN CERTIFICATE-----')) return pem;
      const what = pem === undefined ? 'does not exist' : 'does not hold a certificate';
      throw new ParametersError(
        `The parameter ${names.CA_CERTIFICATE_PARAMETER} ${what}: store the certificate of GMS's authority (PEM) there.`,
      );
    },
  };
}

/** How long one call may take with its retries, to the last byte of its answer, milliseconds. */
const defaultCallMillis = 40_000;

/** Short timeouts: if Parameter Store is unreachable, a function must say so before its own time ends. */
export function ssmClient(config: SSMClientConfig = {}): SSMClient {
  return new SSMClient({ maxAttempts: 3, requestHandler: timeouts(10_000), ...config });
}

/** Pages of ten parameters, far more than one run can use: a listing that goes on beyond that may never end. */
const maxPages = 100;

async function readPolicies(path: string, client: Pick<SSMClient, 'send'>): Promise<PolicyText[]> {
  const sources: PolicyText[] = [];
  let next: string | undefined;
  for (let pages = 0; pages < maxPages; pages++) {
    const command = new GetParametersByPathCommand({ Path: path, WithDecryption: false, NextToken: next });
    const page = await client.send(command).catch((error: unknown) => {
      throw unreadable(`${path}/*`, error);
    });
    for (const { Name = path, Value = '', Type } of page.Parameters ?? [])
      sources.push({ name: Name, text: Value, isEncrypted: Type === 'SecureString' });
    next = page.NextToken;
    if (next === undefined) return sources;
  }
  throw new ParametersError(
    `There are more than ${maxPages} pages of parameters below ${path}: keep only the policies of this stage there.`,
  );
}

interface ParameterValue {
  text: string;
  /** Epoch milliseconds. */
  at: number | undefined;
}

function identitySource(
  names: ParameterNames,
  parameter: (name: string) => Promise<ParameterValue | undefined>,
): IdentitySource & { forget(): void } {
  let identity: Identity | undefined;
  let storedAt: number | undefined;
  /** What a parameter that holds a part of the identity has, read from its trimmed text. */
  const part = async <Value>(
    name: string,
    what: string,
    parse: (text: string) => { value: Value } | { problem: string },
    file: string,
  ) => {
    const stored = await parameter(name);
    const text = stored?.text.trim();
    const store = `store it with aws ssm put-parameter --name ${name} --type SecureString --overwrite --value file://${file}`;
    if (text === undefined) {
      throw new ParametersError(`The parameter ${name}, which holds ${what}, does not exist: ${store}.`);
    }
    const parsed = parse(text);
    if ('problem' in parsed) throw new ParametersError(`The parameter ${name} ${parsed.problem}: ${store}.`);
    return { value: parsed.value, at: stored?.at };
  };
  const tokenIn = async () => {
    if (names.NO_IDENTITY) return undefined;
    const token = (text: string) => orProblem(text, tokenProblem(text));
    return part(required(names.TOKEN_PARAMETER, 'the token'), "DataHub's token", token, 'token.txt');
  };
  const headersIn = async (besideToken: boolean) => {
    if (names.HEADERS_PARAMETER === undefined) return undefined;
    const headers = (text: string) => {
      const found = readHeaders(text);
      if ('problem' in found) return found;
      return orProblem(found.headers, problemOfHeaders(Object.entries(found.headers), besideToken));
    };
    return (await part(names.HEADERS_PARAMETER, 'the headers', headers, 'headers.txt')).value;
  };
  const certificateIn = async () => {
    if (names.CLIENT_CERTIFICATE_PARAMETER === undefined) return undefined;
    const name = required(names.CLIENT_KEY_PARAMETER, 'the key of its client certificate');
    const [cert, key] = await Promise.all([
      part(names.CLIENT_CERTIFICATE_PARAMETER, 'the client certificate', (text) => orProblem(text), 'tls.crt'),
      part(name, 'its key', (text) => orProblem(text), 'tls.key'),
    ]);
    const certificate = { cert: cert.value, key: key.value };
    const wrong = problemOfCertificate(certificate);
    if (wrong === undefined) return certificate;
    throw new ParametersError(
      `The parameter ${wrong.of === 'key' ? name : names.CLIENT_CERTIFICATE_PARAMETER} ${wrong.problem}: store both again.`,
    );
  };
  const reread = async () => {
    const token = await tokenIn();
    const [headers, certificate] = await Promise.all([headersIn(token !== undefined), certificateIn()]);
    identity = {
      ...(token && { token: token.value }),
      ...(headers && { headers }),
      ...(certificate && { certificate }),
    };
    storedAt = token?.at;
    return identity;
  };
  const forget = () => {
    identity = undefined;
  };
  return { get: async () => identity ?? (await reread()), reread, storedAt: () => storedAt, forget };
}

const orProblem = <Value>(value: Value, problem?: string): { value: Value } | { problem: string } =>
  problem === undefined ? { value } : { problem };

function required(name: string | undefined, what: string): string {
  if (name === undefined) throw new ParametersError(`This function is not given ${what}: deploy the stack again.`);
  return name;
}

function unreadable(name: string, error: unknown): ParametersError {
  const { name: kind = 'Error', message = '', code } = error as { name?: string; message?: string; code?: string };
  if (kind === 'TimeoutError' || kind === 'AbortError' || /^E[A-Z]+$/.test(code ?? '')) {
    return new ParametersError(
      `Parameter Store did not answer (${code ?? kind}) when ${name} was read: functions in a private network need a NAT ` +
        'gateway, or the interface endpoint for SSM and the gateway endpoint for DynamoDB.',
    );
  }
  if (isDenied(kind)) {
    return new ParametersError(
      `The function may not read the parameter ${name} (${message.slice(0, 300)}): ${denied} denies it; for a token under a ` +
        'key of your own set tokenKeyArn in the stage file and let the key policy allow this account.',
    );
  }
  return new ParametersError(
    `The parameter ${name} could not be read (${kind}: ${message.slice(0, 200)}): the next run tries again.`,
  );
}
