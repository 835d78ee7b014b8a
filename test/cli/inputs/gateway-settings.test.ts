import { execFileSync, spawn } from 'node:child_process';
import { afterAll, describe, expect, it, onTestFinished, test } from 'vitest';
import { readServer } from '../../../cli/inputs/server.ts';
import { authority } from '../../support/certificates.ts';
import { folder } from '../processes.ts';
import { problemOf } from './problem.ts';

/**
 * `~/.datahubenv` with what a gateway wants, read here and by `load_client_config` of acryl-datahub 1.7.0.17, whose
 * result is in the second column: it takes the file as it is written here, takes it and fails or does something else when
 * it sends, or refuses it.
 */

const made = authority();
afterAll(made.remove);
const { cert, key } = made.issue();
const locked = made.encrypted(key, 'opensesame-1');

type Theirs = 'same' | 'takes' | 'refuses';
type Ours = { headers?: object; certificate?: 'cert' | 'locked'; token?: string } | RegExp;
const none: Ours = {};
const noTexts = /^gms\.extra_headers of ~\/\.datahubenv must hold names with texts/;
const otherServer = { DATAHUB_GMS_URL: 'https://y', DATAHUB_GMS_TOKEN: 'token-of-y-1234' };
const headers = (values: string) => `extra_headers: ${values}`;

const table: Array<[name: string, theirs: Theirs, ours: Ours, lines: string[], env?: NodeJS.ProcessEnv]> = [
  ['nothing of it', 'same', none, []],
  [
    'every field without a value',
    'same',
    none,
    [
      'extra_headers: null',
      'client_certificate_path: null',
      'client_key_path: null',
      'disable_ssl_verification: false',
    ],
  ],
  ['no headers', 'same', none, [headers('{}')]],
  ['one header', 'same', { headers: { 'X-Key': 'abc' } }, [headers('{X-Key: abc}')]],
  ['two', 'same', { headers: { 'X-Key': 'abc', 'X-T': 'acme' } }, [headers('{X-Key: abc, X-T: acme}')]],
  ['a number in quotes', 'same', { headers: { 'X-Key': '4711' } }, [headers("{X-Key: '4711'}")]],
  ['Proxy-Authorization', 'same', { headers: { 'Proxy-Authorization': 'a' } }, [headers('{Proxy-Authorization: a}')]],
  ['a number', 'refuses', noTexts, [headers('{X-Key: 4711}')]],
  ['a list', 'refuses', noTexts, [headers('[X-Key]')]],
  ['a text', 'refuses', noTexts, [headers("'X-Key: secret'")]],
  ['false', 'refuses', noTexts, [headers('false')]],
  ['an empty value', 'takes', /has X-Key without a value/, [headers("{X-Key: ''}")]],
  ['a value of two lines', 'takes', /has a line break or another character in X-Key/, [headers('{X-Key: "a\\nb"}')]],
  ['a letter of another alphabet', 'takes', /another character in X-Key/, [headers('{X-Key: ключ}')]],
  ['two spellings', 'takes', /has x-key twice: keep one/, [headers('{X-Key: a, x-key: b}')]],
  ['one name twice', 'takes', /is not valid YAML/, [headers('{X-Key: a, X-Key: b}')]],
  ['Authorization', 'takes', /has Authorization beside DataHub's token/, [headers('{Authorization: Basic secret}')]],
  ['Host', 'takes', /has Host, which belongs to the request itself/, [headers('{Host: secret}')]],
  ['Transfer-Encoding', 'takes', /has transfer-encoding, which belongs/, [headers('{transfer-encoding: chunked}')]],
  ['Content-Length', 'takes', /has Content-Length, which belongs/, [headers("{Content-Length: '1'}")]],
  ['X-RestLi-Method', 'takes', /has X-RestLi-Method, which belongs/, [headers('{X-RestLi-Method: delete}')]],
  ['X-Rewrite-URL', 'takes', /has X-Rewrite-URL, which belongs/, [headers('{X-Rewrite-URL: /other}')]],
  ['Idempotency-Key', 'takes', /has Idempotency-Key, which belongs/, [headers('{Idempotency-Key: once}')]],
  ['a name with a blank', 'takes', /has a name that no header can have/, [headers('{X Key: secret}')]],
  [
    '9 kB',
    'takes',
    /has 9\d{3} bytes of headers, and servers take at most 8192/,
    [headers(`{X-Key: ${'s'.repeat(9000)}}`)],
  ],
  ['a certificate', 'same', { certificate: 'cert' }, ['client_certificate_path: CERT', 'client_key_path: KEY']],
  ['both in one file', 'same', { certificate: 'cert' }, ['client_certificate_path: BOTH']],
  ['a chain', 'same', { certificate: 'cert' }, ['client_certificate_path: CHAIN']],
  [
    'a chain that begins with the authority',
    'takes',
    /REVERSED holds the key of another certificate: .* its own certificate before/,
    ['client_certificate_path: REVERSED'],
  ],
  ['a chain that is cut', 'takes', /CUT holds a certificate that TLS refuses \(ERR_/, ['client_certificate_path: CUT']],
  [
    'no key',
    'takes',
    /CERT holds no private key.* is named with DATAHUB_CLIENT_KEY/,
    ['client_certificate_path: CERT'],
  ],
  ['a key alone', 'same', none, ['client_key_path: KEY']],
  ['no path', 'same', none, ["client_certificate_path: ''"]],
  ['a number as a path', 'refuses', /client_certificate_path .* must be a string/, ['client_certificate_path: 7']],
  [
    'a certificate in the environment',
    'same',
    { certificate: 'cert' },
    [],
    { DATAHUB_CLIENT_CERT_PATH: 'CERT', DATAHUB_CLIENT_KEY_PATH: 'KEY' },
  ],
  [
    'a key there',
    'same',
    { certificate: 'cert' },
    ['client_certificate_path: CERT'],
    { DATAHUB_CLIENT_KEY_PATH: 'KEY' },
  ],
  [
    "a key's password",
    'takes',
    { certificate: 'locked' },
    ['client_certificate_path: CERT', 'client_key_path: LOCKED', 'client_key_password: opensesame-1'],
  ],
  [
    'a wrong one',
    'takes',
    /^gms\.client_key_path .*LOCKED holds an encrypted key that this password does not open/,
    ['client_certificate_path: CERT', 'client_key_path: LOCKED', 'client_key_password: secret'],
  ],
  ['certificates that nobody checks', 'takes', /gms\.disable_ssl_verification/, ['disable_ssl_verification: true']],
  ['OAuth beside a token', 'refuses', /gms\.auth, and this job fetches no token/, ['auth: {type: oauth, config: {}}']],
  ['another address in the environment', 'same', { token: 'token-of-y-1234' }, [headers('{X-Key: abc}')], otherServer],
  [
    'another address, and a certificate',
    'same',
    { token: 'token-of-y-1234' },
    ['client_certificate_path: CERT', 'client_key_path: KEY'],
    otherServer,
  ],
];

it.each(table)(
  "What a gateway wants, in DataHub's own settings: %s: theirs %s",
  async (_name, _theirs, ours, lines, env = {}) => {
    const files = folder();
    const chains = {
      BOTH: cert + key,
      CHAIN: cert + made.ca + key,
      REVERSED: made.ca + cert + key,
      CUT: key + cert + made.ca.slice(0, 99),
    };
    for (const [name, text] of Object.entries({ CERT: cert, KEY: key, LOCKED: locked, ...chains })) {
      files.write(name, text);
    }
    const paths = (text: string) =>
      text.replace(/\b(CERT|KEY|BOTH|CHAIN|REVERSED|CUT|LOCKED)$/, (name) => files.at(name));
    const settings = ['server: "https://x"', 'token: abc-def-ghi-jkl', ...lines.map(paths)];
    files.write('.datahubenv', `gms:\n${settings.map((line) => `  ${line}\n`).join('')}`);
    const given = Object.fromEntries(Object.entries(env).map(([name, value = '']) => [name, paths(value)]));
    const read = () => readServer({}, { HOME: files.at('.'), ...given });
    if (ours instanceof RegExp) {
      const problem = problemOf(read);
      expect(problem).toMatch(ours);
      expect(problem).not.toMatch(/secret|\n/);
      return;
    }
    const { token, headers, certificate } = await read().identity.get();
    const shown = certificate && (certificate.passphrase === undefined ? 'cert' : 'locked');
    expect({ token, headers, certificate: shown }).toEqual({ token: 'abc-def-ghi-jkl', ...ours });
  },
);

describe('--header-file', () => {
  it.each([
    ['with the mark of UTF-8 and the line ends of Windows', '\ufeffX-Key: abc\r\nX-Tenant: acme\r\n'],
    ['with comments, and without blanks', '# of the gateway\nX-Key:abc\n\n#X-Key: an-older-one\nX-Tenant: acme'],
    ['with blanks at the ends', 'X-Key: abc \t\nX-Tenant:\tacme  '],
  ])('%s is read', async (_, text) => {
    const given = {
      tokenFile: folder().write('token', 'abc-def-ghi-jkl'),
      headerFile: folder().write('headers', text),
    };
    const { headers } = await readServer({ gmsUrl: 'https://x', ...given }, {}).identity.get();
    expect(headers).toEqual({ 'X-Key': 'abc', 'X-Tenant': 'acme' });
  });

  it.each([
    ['', /is empty/],
    ['just-a-secret-value', /has no header in line 1: write one "Name: value" a line/],
    ['X-Key: ok-value\n continued-secret', /has no header in line 2/],
    ['X-Key : secret', /has no header in line 1/],
    ['X-Key: $(GATEWAY_KEY)', /has a placeholder in X-Key that nothing has replaced/],
    ['Connection: close', /has Connection, which belongs to the request itself/],
  ])('that holds %j is refused by line or name', (text, sentence) => {
    const headerFile = folder().write('headers', text);
    const tokenFile = folder().write('token', 'abc-def-ghi-jkl');
    const problem = problemOf(() => readServer({ gmsUrl: 'https://x', tokenFile, headerFile }, {}));
    expect(problem).toMatch(sentence);
    expect(problem).not.toMatch(/secret/);
  });

  it.each([
    ['headerFile', 'X-Key: secret-value-1234'],
    ['clientKey', '-----BEGIN PRIVATE KEY-----secret'],
    ['clientCertificate', '-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----secret'],
  ])('an option %s with %j in place of a file does not show it', (option, text) => {
    const files = folder();
    const own = {
      tokenFile: files.write('token', 'abc-def-ghi-jkl'),
      clientCertificate: files.write('cert', cert + key),
    };
    const problem = problemOf(() => readServer({ gmsUrl: 'https://x', ...own, [option]: text }, {}));
    expect(problem).toMatch(/takes the name of a file/);
    expect(problem).not.toMatch(/secret/);
  });
});

test('What a shell hands over as a pipe, which can be read once, stays', async () => {
  const own = folder();
  const piped = (name: string, text: string) => {
    const path = own.at(name);
    execFileSync('mkfifo', [path]);
    const writer = spawn('sh', ['-c', 'printf %s "$1" > "$2"', 'sh', text, path]);
    onTestFinished(() => void writer.kill());
    return path;
  };
  const { identity, ca } = readServer(
    {
      gmsUrl: 'https://x',
      tokenFile: piped('token', 'abc-def-ghi-jkl'),
      headerFile: piped('headers', 'X-Key: abc'),
      clientCertificate: piped('cert', cert),
      clientKey: piped('key', key),
      caFile: piped('ca', made.ca),
    },
    {},
  );
  const first = await identity.get();
  expect([await identity.reread(), await identity.get(), ca?.()]).toEqual([first, first, made.ca]);
});

describe('The environment of a pod', () => {
  const files = (own = folder()) => ({
    DATAHUB_GMS_URL: 'https://gms.example.com',
    DATAHUB_RETENTION_TOKEN_FILE: own.write('token', 'abc-def-ghi-jkl'),
    DATAHUB_RETENTION_HEADER_FILE: own.write('headers', 'X-Key: abc-of-gateway'),
  });

  it('has headers and a client certificate for its own address, and for no other', async () => {
    const env = { ...files(), DATAHUB_CLIENT_CERT_PATH: folder().write('both', cert + key) };
    const { headers, certificate } = await readServer({}, env).identity.get();
    expect([headers, typeof certificate]).toEqual([{ 'X-Key': 'abc-of-gateway' }, 'object']);
    const other = { gmsUrl: 'https://other.example.com', tokenFile: env.DATAHUB_RETENTION_TOKEN_FILE };
    expect(await readServer(other, env).identity.get()).toEqual({ token: 'abc-def-ghi-jkl' });
  });

  it.each([
    [{ DATAHUB_RETENTION_NO_IDENTITY: 'true' }, /DATAHUB_RETENTION_NO_IDENTITY and .* are set: unset one/],
    [{ DATAHUB_RETENTION_NO_IDENTITY: 'yes' }, /must be true or false/],
    [{ DATAHUB_RETENTION_TOKEN_FILE: undefined }, /^No access token/],
    [{ DATAHUB_RETENTION_TOKEN_FILE: undefined, DATAHUB_RETENTION_NO_IDENTITY: 'false' }, /^No access token/],
    [{ DATAHUB_RETENTION_TOKEN_FILE: undefined, DATAHUB_RETENTION_NO_IDENTITY: '' }, /^No access token/],
  ])('with %j is a mistake', (more, sentence) => {
    expect(problemOf(() => readServer({}, { ...files(), HOME: '/no/such/home', ...more }))).toMatch(sentence);
  });

  it('sends no token where that is written down, which leaves Authorization to the gateway', async () => {
    const { DATAHUB_RETENTION_TOKEN_FILE: _, ...env } = files();
    env.DATAHUB_RETENTION_HEADER_FILE = folder().write('headers', 'Authorization: Basic YTpi');
    const { identity } = readServer({}, { ...env, DATAHUB_RETENTION_NO_IDENTITY: 'true' });
    expect(await identity.get()).toEqual({ headers: { Authorization: 'Basic YTpi' } });
  });
});
