import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readServer, type ServerOptions } from '../../../cli/inputs/server.ts';
import { folder } from '../processes.ts';
import { problemOf } from './problem.ts';

/** A home folder with the file that `datahub init` writes: PyYAML's block style, keys in alphabetical order. */
function home(content: unknown): NodeJS.ProcessEnv {
  const files = folder();
  files.write('.datahubenv', content);
  return { HOME: files.at('.') };
}

const written = `gms:
  ca_certificate_path: null
  disable_ssl_verification: false
  extra_headers: {}
  server: https://Datahub.example.com/api/gms/
  timeout_sec: null
  token: eyJhbGciOi.secret
`;
/** As the file and the environment may name them: one server each. */
const ofFile = { baseUrl: 'https://datahub.example.com/api/gms', token: 'eyJhbGciOi.secret' };
const staging = { DATAHUB_GMS_URL: 'http://staging:8080', DATAHUB_GMS_TOKEN: 'the-token-of-staging' };
const byHost = { DATAHUB_GMS_HOST: 'staging', DATAHUB_GMS_PORT: '8080', DATAHUB_GMS_TOKEN: 'the-token-of-staging' };

describe("DataHub's own settings", () => {
  it.each<[string, NodeJS.ProcessEnv, string, string]>([
    ['the file alone', {}, ofFile.baseUrl, ofFile.token],
    ['an address in the environment', staging, 'http://staging:8080', 'the-token-of-staging'],
    ['host and port', byHost, 'http://staging:8080', 'the-token-of-staging'],
    [
      'host, port and protocol',
      { ...byHost, DATAHUB_GMS_PROTOCOL: 'https' },
      'https://staging:8080',
      'the-token-of-staging',
    ],
    [
      'host and port beside an address',
      { ...byHost, DATAHUB_GMS_URL: 'http://no' },
      'http://staging:8080',
      'the-token-of-staging',
    ],
    ['an address beside a host', { ...staging, DATAHUB_GMS_HOST: 'no' }, 'http://staging:8080', 'the-token-of-staging'],
    [
      'a host that is an address',
      { DATAHUB_GMS_HOST: 'http://old:8080', DATAHUB_GMS_TOKEN: 'the-token-of-old' },
      'http://old:8080',
      'the-token-of-old',
    ],
    [
      "the port that Kubernetes sets beside a service's name",
      { ...staging, DATAHUB_GMS_PORT: 'tcp://10.0.0.1:8080' },
      'http://staging:8080',
      'the-token-of-staging',
    ],
    ['a token without an address', { DATAHUB_GMS_TOKEN: 'the-token-of-staging' }, ofFile.baseUrl, ofFile.token],
    ['a protocol without a port', { DATAHUB_GMS_PROTOCOL: 'http' }, ofFile.baseUrl, ofFile.token],
    [
      'skipping the file where it is not needed',
      { ...staging, DATAHUB_SKIP_CONFIG: 'true' },
      'http://staging:8080',
      'the-token-of-staging',
    ],
  ])('mean the same here: %s', (_name, env, baseUrl, tokenText) => {
    expect(readServer({}, { ...home(written), ...env })).toMatchObject({ baseUrl, tokenText });
  });

  it.each<[string, NodeJS.ProcessEnv, RegExp]>([
    ['a port without a host', { DATAHUB_GMS_PORT: '8080' }, /^DATAHUB_GMS_PORT is set without DATAHUB_GMS_HOST/],
    [
      'a port beside a host that is an address',
      { ...byHost, DATAHUB_GMS_HOST: 'http://staging' },
      /^DATAHUB_GMS_HOST must be a host name alone/,
    ],
    [
      'a host without a port',
      { DATAHUB_GMS_HOST: 'staging' },
      /^DATAHUB_GMS_HOST: The GMS address must begin with http/,
    ],
    ['skipping the only place', { DATAHUB_SKIP_CONFIG: 'True' }, /^No server: .*\(DATAHUB_SKIP_CONFIG leaves/],
    [
      'services that sign in by themselves',
      { DATAHUB_GMS_URL: 'http://staging', DATAHUB_SYSTEM_CLIENT_ID: '__datahub_system' },
      /\(this job does not use DATAHUB_SYSTEM_CLIENT_ID\)/,
    ],
  ])('are refused by name: %s', (_name, env, sentence) => {
    expect(problemOf(() => readServer({}, { ...home(written), ...env }))).toMatch(sentence);
  });

  it('are named as the source of address and token', () => {
    const sources = (asked: ServerOptions, env: NodeJS.ProcessEnv) =>
      readServer(asked, { ...home(written), ...env }).from;
    const files = folder();
    const tokenFile = files.write('token', 'abc-def-ghi-jkl');
    expect(sources({}, {})).toEqual({ url: '~/.datahubenv', token: '~/.datahubenv' });
    expect(sources({ tokenFile }, {})).toEqual({ url: '~/.datahubenv', token: `--token-file ${tokenFile}` });
    expect(sources({}, { ...byHost, DATAHUB_GMS_PROTOCOL: 'http' })).toEqual({
      url: 'DATAHUB_GMS_HOST and _PORT and _PROTOCOL',
      token: 'DATAHUB_GMS_TOKEN',
    });
    expect(sources({ gmsUrl: 'http://staging:8080/' }, staging)).toEqual({
      url: '--gms-url',
      token: 'DATAHUB_GMS_TOKEN',
    });
    expect(sources({ gmsUrl: 'http://other' }, { DATAHUB_GMS_TOKEN: 'any-token-at-all' })?.token).toBe(
      'DATAHUB_GMS_TOKEN',
    );
    expect(sources({}, { DATAHUB_GMS_TOKEN: 'any-token-at-all' })?.token).toMatch(
      /^~\/\.datahubenv \(not DATAHUB_GMS_TOKEN/,
    );
  });

  it('never show the token of one server to another', () => {
    const env = home(written);
    expect(readServer({ gmsUrl: 'https://datahub.example.com:443/api/gms' }, env).tokenText).toBe(ofFile.token);
    const ofTheFile = problemOf(() => readServer({ gmsUrl: 'https://other.example.com' }, env));
    expect(ofTheFile).toMatch(/^No access token: the one in ~\/\.datahubenv is for another server: give --token-file/);
    expect(ofTheFile).not.toContain('secret');
    expect(problemOf(() => readServer({ gmsUrl: 'http://production' }, { ...env, ...staging }))).toMatch(
      /^No access token: DATAHUB_GMS_TOKEN is for the server of DATAHUB_GMS_URL, not for --gms-url: give --token-file/,
    );
    const inPod = { DATAHUB_GMS_URL: 'http://staging:8080', DATAHUB_RETENTION_TOKEN_FILE: '/token/token' };
    expect(problemOf(() => readServer({ gmsUrl: 'http://production' }, { ...env, ...inPod }))).toMatch(
      /^No access token: DATAHUB_RETENTION_TOKEN_FILE \/token\/token is for the server of DATAHUB_GMS_URL, not for --gms-url/,
    );
    const withoutToken = home('gms: {server: "http://production"}');
    expect(problemOf(() => readServer({}, { ...withoutToken, DATAHUB_GMS_TOKEN: 'the-token-of-staging' }))).toMatch(
      /^No access token \(not DATAHUB_GMS_TOKEN, which counts only beside DATAHUB_GMS_URL or --gms-url\): give/,
    );
  });
});

describe('~/.datahubenv', () => {
  it('is read again when the server refuses its token', async () => {
    const env = home(written);
    const { token } = readServer({}, env);
    writeFileSync(`${env['HOME']}/.datahubenv`, written.replace('secret', 'renewed'));
    expect(await token.get()).toBe('eyJhbGciOi.secret');
    expect(await token.reread()).toBe('eyJhbGciOi.renewed');
  });

  it("names the certificates of its server's authority", () => {
    const env = home('gms: {server: "https://x", token: abc-def-ghi-jkl, ca_certificate_path: /no/such/ca.pem}');
    expect(problemOf(() => readServer({}, env))).toMatch(
      /^gms\.ca_certificate_path of ~\/\.datahubenv: \/no\/such\/ca\.pem cannot be read/,
    );
  });

  it.each([
    ['extra_headers', '{X-Gateway: secret}', 'an address of GMS behind the gateway'],
    ['client_certificate_path', '/secret.pem', 'an address of GMS behind the gateway'],
    ['client_key_path', '/secret.pem', 'an address of GMS behind the gateway'],
    ['disable_ssl_verification', 'true', '--ca-file'],
    ['disable_ssl_verification', '"True"', '--ca-file'],
  ])(
    'with %s: %s is refused with what to do instead, wherever its address or token is used',
    (field, value, instead) => {
      const env = home(`gms: {server: "http://x", token: abc-def-ghi-jkl, ${field}: ${value}}`);
      for (const asked of [{}, { gmsUrl: 'http://x' }]) {
        const problem = problemOf(() => readServer(asked, env));
        expect(problem).toMatch(new RegExp(`^~/\\.datahubenv has gms\\.${field}, .*${instead}`));
        expect(problem).not.toContain('secret');
      }
      expect(readServer({ gmsUrl: 'http://x' }, { ...env, DATAHUB_GMS_TOKEN: 'abc-def-ghi-jkl' }).tokenText).toBe(
        'abc-def-ghi-jkl',
      );
    },
  );

  it('gives way to the profiles of newer releases, which this job does not read', () => {
    const env = home(written);
    mkdirSync(`${env['HOME']}/.datahub`);
    writeFileSync(`${env['HOME']}/.datahub/config.yaml`, '');
    expect(problemOf(() => readServer({}, env))).toMatch(/\(~\/\.datahub\/config\.yaml is not read by this job\)/);
  });

  it.each<[string, unknown, RegExp]>([
    [
      'is not there',
      undefined,
      /^No server: give --gms-url URL or set DATAHUB_GMS_URL \(~\/\.datahubenv does not exist\)/,
    ],
    ['is empty', '', /\(~\/\.datahubenv has no gms\.server\)/],
    ['is a list', '- secret', /has no gms\.server/],
    ['has a server that is none', 'gms: {server: 7}', /has no gms\.server/],
    ['has an address that cannot be', 'gms: {server: "ftp://secret"}', /^~\/\.datahubenv: The GMS address must begin/],
    ['has no token', 'gms: {server: "http://x"}', /^No access token: give --token-file FILE, or set/],
    [
      'has a token of two words',
      'gms: {server: "http://x", token: "secret words"}',
      /^~\/\.datahubenv does not hold a token/,
    ],
    ['is no YAML', 'gms: [secret', /^~\/\.datahubenv is not valid YAML: run datahub init again/],
    ['refers to itself', 'a: &a {secret: 1}\ngms: *a', /^~\/\.datahubenv is not valid YAML/],
  ])('that %s is refused in one sentence that quotes nothing of it', (_name, content, sentence) => {
    const env = content === undefined ? { HOME: '/no/such/home' } : home(content);
    const problem = problemOf(() => readServer({}, env));
    expect(problem).toMatch(sentence);
    expect(problem).not.toMatch(/secret|\n/);
  });
});
