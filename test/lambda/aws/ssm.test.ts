import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ssmClient, ssmParameters } from '../../../lambda/aws/ssm.ts';
import { parsePolicies } from '../../../lambda/policy/parse.ts';
import { ParametersError } from '../../../lambda/run/services.ts';
import { authority } from '../../support/certificates.ts';
import { type Listening, listening, textOf } from '../../support/loopback.ts';
import { rawServer, trickle } from '../gms/http/raw-server.ts';

const names = {
  TOKEN_PARAMETER: '/p/token',
  POLICIES_PATH: '/p/policies',
  PAUSED_PARAMETER: '/p/paused',
  CA_CERTIFICATE_PARAMETER: '/p/ca',
};
const credentials = { accessKeyId: 'none', secretAccessKey: 'none' };

/** Parameter Store over HTTP: parameters in memory, pages of two, and its errors. */
let stored: Record<string, string>;
let refusal: { status: number; type: string } | undefined;
let type: string;
let asked: { target: string; body: Record<string, unknown> }[];
const store = createServer(async (request, response) => {
  const body = JSON.parse(await textOf(request));
  const target = String(request.headers['x-amz-target']).replace('AmazonSSM.', '');
  asked.push({ target, body });
  const answer = (status: number, value: object) =>
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(value));
  if (refusal) return answer(refusal.status, { __type: refusal.type, message: 'said the service' });
  if (target === 'GetParameter') {
    const Value = stored[body.Name];
    return Value === undefined
      ? answer(400, { __type: 'ParameterNotFound' })
      : answer(200, { Parameter: { Name: body.Name, Value: body.WithDecryption ? Value : 'AQICAHhB7vC5mDz0l0oJ' } });
  }
  const all = Object.entries(stored).filter(([name]) => name.startsWith(`${body.Path}/`));
  const start = Number(body.NextToken ?? 0);
  return answer(200, {
    Parameters: all.slice(start, start + 2).map(([Name, Value]) => ({ Name, Value, Type: type })),
    ...(start + 2 < all.length && { NextToken: String(start + 2) }),
  });
});
let address: Listening;

beforeAll(async () => {
  address = await listening(store);
});
beforeEach(() => {
  stored = {};
  refusal = undefined;
  type = 'String';
  asked = [];
});
afterAll(() => address.close());

const open = () => ssmParameters(names, ssmClient({ endpoint: address.url, region: 'eu-central-1', credentials }));

async function failure(act: Promise<unknown>): Promise<string> {
  const error = await act.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ParametersError);
  return (error as Error).message;
}

describe('Policies in Parameter Store', () => {
  test('are refused where their pages do not end', async () => {
    for (let n = 0; n < 201; n++) stored[`/p/policies/dataset.a${n}`] = '{}';
    expect(await failure(open().policies())).toBe(
      'There are more than 100 pages of parameters below /p/policies: keep only the policies of this stage there.',
    );
    expect(asked).toHaveLength(100);
  });

  test('come from all pages, with their names, and are not decrypted', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) stored[`/p/policies/dataset.${name}`] = `{"${name}":1}`;
    const policies = await open().policies();
    expect(policies.map(({ name }) => name)).toEqual(Object.keys(stored));
    expect(policies[4]).toMatchObject({ name: '/p/policies/dataset.e', text: '{"e":1}' });
    expect(asked.every(({ body }) => body['WithDecryption'] === false)).toBe(true);
  });

  test('that are encrypted say so, and not that they are no JSON', async () => {
    stored['/p/policies/dataset.a'] = 'AQICAHhB7vC5mDz0l0oJ';
    type = 'SecureString';
    const [policy] = parsePolicies(await open().policies(), 7);
    expect(policy).toMatchObject({ kind: 'invalid', problem: expect.stringMatching(/dataset\.a is a SecureString/) });
  });

  test('may be none', async () => {
    expect(await open().policies()).toEqual([]);
  });
});

describe('The pause switch', () => {
  test.each<[value: string | undefined, paused: boolean]>([
    [undefined, false],
    ['false', false],
    [' False\n', false],
    ['true', true],
    ['no', true],
    ['0', true],
    ['', true],
  ])('%j means paused: %s', async (value, paused) => {
    if (value !== undefined) stored['/p/paused'] = value;
    expect(await open().paused()).toBe(paused);
  });

  test('that cannot be read is an error, which callers take for paused', async () => {
    refusal = { status: 400, type: 'AccessDeniedException' };
    expect(await failure(open().paused())).toMatch(/may not read the parameter \/p\/paused/);
  });
});

describe('The token', () => {
  test('is trimmed, and read once until it is asked for again', async () => {
    stored['/p/token'] = ' the-first-token\n';
    const { identity } = open();
    expect([await identity.get(), await identity.get()]).toEqual([
      { token: 'the-first-token' },
      { token: 'the-first-token' },
    ]);
    expect(asked).toHaveLength(1);
    stored['/p/token'] = 'the-second-token';
    expect([await identity.reread(), await identity.get()]).toEqual([
      { token: 'the-second-token' },
      { token: 'the-second-token' },
    ]);
    expect(asked).toHaveLength(2);
  });

  test('that is missing is reported with the command that stores it', async () => {
    expect(await failure(open().identity.get())).toMatch(
      /\/p\/token.*does not exist: store it with aws ssm put-parameter/,
    );
  });

  test.each([' ', 'two words', 'ein\u00e9', 'line\nbreak', 'abc-def-ghi-12'])(
    'that is %j is refused without being shown',
    async (value) => {
      stored['/p/token'] = value;
      const message = await failure(open().identity.get());
      expect(message).toMatch(
        /The parameter \/p\/token (is empty|does not hold a token|holds a token that has fewer than 12 letters)/,
      );
      if (value.trim()) expect(message).not.toContain(value);
    },
  );
});

describe('The rest of the identity', () => {
  const gateway = {
    HEADERS_PARAMETER: '/p/headers',
    CLIENT_CERTIFICATE_PARAMETER: '/p/crt',
    CLIENT_KEY_PARAMETER: '/p/key',
  };
  const opened = (more: object) =>
    ssmParameters({ ...names, ...gateway, ...more }, ssmClient({ endpoint: address.url, region: 'x', credentials }));
  const made = authority();
  afterAll(made.remove);
  const { cert, key } = made.issue();
  const whole = { '/p/headers': 'X-Key: value-of-a-gateway\n', '/p/crt': cert, '/p/key': `${key}\n` };

  test('is read with the token, and again with it', async () => {
    stored = { ...whole, '/p/token': 'the-first-token' };
    const { identity } = opened({});
    const certificate = { cert: cert.trim(), key: key.trim() };
    const first = { token: 'the-first-token', headers: { 'X-Key': 'value-of-a-gateway' }, certificate };
    expect(await identity.get()).toEqual(first);
    stored['/p/headers'] = 'X-Key: a-new-value-of-it';
    expect((await identity.get()).headers).toEqual(first.headers);
    expect((await identity.reread()).headers).toEqual({ 'X-Key': 'a-new-value-of-it' });
  });

  test('has no token only where that is said', async () => {
    stored = { ...whole };
    expect(await opened({ TOKEN_PARAMETER: undefined, NO_IDENTITY: 'true' }).identity.get()).not.toHaveProperty(
      'token',
    );
    expect(await failure(opened({ TOKEN_PARAMETER: undefined }).identity.get())).toMatch(
      /is not given the token: deploy/,
    );
    expect(await failure(opened({}).identity.get())).toMatch(/\/p\/token.*does not exist/);
  });

  test.each<[string, string | undefined, RegExp]>([
    ['/p/headers', undefined, /\/p\/headers, which holds the headers, does not exist: store it with aws ssm put/],
    ['/p/headers', 'the secret value', /\/p\/headers has no header in line 1/],
    ['/p/headers', 'Authorization: secret', /\/p\/headers has Authorization beside DataHub's token/],
    ['/p/crt', undefined, /\/p\/crt, which holds the client certificate, does not exist/],
    ['/p/crt', 'secret', /\/p\/crt holds no certificate in PEM form/],
    ['/p/key', cert, /\/p\/key holds no private key in PEM form/],
    ['/p/key', made.issue().key, /\/p\/key holds the key of another certificate/],
    ['/p/key', made.encrypted(key, 'secret'), /\/p\/key holds an encrypted key: store it without a password/],
  ])('%s with a wrong value is named, and not shown', async (name, value, sentence) => {
    stored = { ...whole, '/p/token': 'the-first-token', [name]: value as string };
    if (value === undefined) delete stored[name];
    const message = await failure(opened({}).identity.get());
    expect(message).toMatch(sentence);
    expect(message).not.toMatch(/secret|value-of/);
  });
});

describe('Parameter Store', () => {
  test('that refuses is quoted, with the remedy', async () => {
    refusal = { status: 400, type: 'AccessDeniedException' };
    expect(await failure(open().policies())).toMatch(/\/p\/policies\/\* \(said the service\).*tokenKeyArn/);
  });

  test.each<[string, (parameters: ReturnType<typeof open>) => Promise<unknown>]>([
    ['token', ({ identity }) => identity.get()],
    ['policies', ({ policies }) => policies()],
    ['pause switch', ({ paused }) => paused()],
    ['certificate', ({ caCertificate }) => caCertificate()],
  ])('whose answer about the %s trickles has not answered', async (_, act) => {
    const server = await rawServer({ onRequest: (socket) => trickle(socket) });
    const client = ssmClient({ endpoint: server.url, region: 'eu-central-1', credentials });
    expect(await failure(act(ssmParameters(names, client, 100)))).toMatch(/did not answer \(.*\) when \/p\//);
  });

  test('that throttles says that the next run tries again, and nothing of a deployment', async () => {
    refusal = { status: 400, type: 'ThrottlingException' };
    const client = ssmClient({ endpoint: address.url, region: 'eu-central-1', credentials, maxAttempts: 1 });
    const message = await failure(ssmParameters(names, client).identity.get());
    expect(message).toMatch(/the next run tries again/);
    expect(message).not.toMatch(/deploy/);
  });

  test('that is out of reach is reported with the ways to it', async () => {
    const endpoint = 'http://127.0.0.1:1';
    const parameters = ssmParameters(
      names,
      ssmClient({ endpoint, region: 'eu-central-1', credentials, maxAttempts: 1 }),
    );
    expect(await failure(parameters.identity.get())).toMatch(
      /did not answer \(ECONNREFUSED\) when \/p\/token.*NAT gateway, or the interface endpoint for SSM.*gateway endpoint for DynamoDB/,
    );
  });

  test.each<[value: string | undefined, reason: RegExp]>([
    [undefined, /\/p\/ca does not exist: store the certificate/],
    ['nonsense', /\/p\/ca does not hold a certificate/],
  ])('with %j for a certificate is an error', async (value, reason) => {
    if (value !== undefined) stored['/p/ca'] = value;
    expect(await failure(open().caCertificate())).toMatch(reason);
  });
});
