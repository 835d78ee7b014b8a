import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readServer, type Server, type ServerOptions } from '../../../cli/inputs/server.ts';
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
const ofFile = { baseUrl: 'https://datahub.example.com/api/gms', tokenText: 'eyJhbGciOi.secret' };
const ofStaging = { baseUrl: 'http://staging:8080', tokenText: 'the-token-of-staging' };
const token = { DATAHUB_GMS_TOKEN: ofStaging.tokenText };
const staging = { DATAHUB_GMS_URL: ofStaging.baseUrl, ...token };
const byHost = { DATAHUB_GMS_HOST: 'staging', DATAHUB_GMS_PORT: '8080', ...token };

const seen = ({ baseUrl, secrets }: Server) => ({ baseUrl, tokenText: secrets().join() });

describe("DataHub's own settings", () => {
  it.each<[string, NodeJS.ProcessEnv, typeof ofFile]>([
    ['the file alone', {}, ofFile],
    ['an address in the environment', staging, ofStaging],
    ['host and port', byHost, ofStaging],
    ['a protocol', { ...byHost, DATAHUB_GMS_PROTOCOL: 'https' }, { ...ofStaging, baseUrl: 'https://staging:8080' }],
    ['host and port beside an address', { ...byHost, DATAHUB_GMS_URL: 'http://no' }, ofStaging],
    ['an address beside a host', { ...staging, DATAHUB_GMS_HOST: 'no' }, ofStaging],
    ["what the chart's pods have", { ...staging, DATAHUB_GMS_HOST: '', DATAHUB_GMS_PORT: '' }, ofStaging],
    ['a host that is an address', { DATAHUB_GMS_HOST: ofStaging.baseUrl, ...token }, ofStaging],
    ['the port that Kubernetes sets for a service', { ...staging, DATAHUB_GMS_PORT: 'tcp://10.0.0.1:8080' }, ofStaging],
    ['a token without an address', token, ofFile],
    ['a protocol without a port', { DATAHUB_GMS_PROTOCOL: 'http' }, ofFile],
    ['skipping the file where it is not needed', { ...staging, DATAHUB_SKIP_CONFIG: 'true' }, ofStaging],
  ])('mean the same here: %s', (_name, env, expected) => {
    expect(seen(readServer({}, { ...home(written), ...env }))).toEqual(expected);
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
  ])('are refused by name: %s', (_name, env, sentence) => {
    expect(problemOf(() => readServer({}, { ...home(written), ...env }))).toMatch(sentence);
  });

  it.each<[ServerOptions, NodeJS.ProcessEnv, url: string, token: string]>([
    [{}, {}, '~/.datahubenv', '~/.datahubenv'],
    [{ tokenFile: 'FILE' }, {}, '~/.datahubenv', '--token-file FILE'],
    [{}, { ...byHost, DATAHUB_GMS_PROTOCOL: 'http' }, 'DATAHUB_GMS_HOST and _PORT and _PROTOCOL', 'DATAHUB_GMS_TOKEN'],
    [{ gmsUrl: 'http://staging:8080/' }, staging, '--gms-url', 'DATAHUB_GMS_TOKEN'],
    [{ gmsUrl: 'http://other' }, token, '--gms-url', 'DATAHUB_GMS_TOKEN'],
    [{}, token, '~/.datahubenv', '~/.datahubenv (not DATAHUB_GMS_TOKEN'],
  ])('are named as the source of address and token: %j, %j', (asked, env, url, named) => {
    const tokenFile = folder().write('token', 'abc-def-ghi-jkl');
    const options = asked.tokenFile ? { ...asked, tokenFile } : asked;
    const { from } = readServer(options, { ...home(written), ...env });
    const shown = from?.identity.join().replace(tokenFile, 'FILE').replace(/,.*/, '');
    expect([from?.url, shown]).toEqual([url, `token from ${named}`]);
  });

  it("show the file's token to its server, however its address is written", () => {
    const gmsUrl = 'https://datahub.example.com:443/api/gms';
    expect(seen(readServer({ gmsUrl }, home(written))).tokenText).toBe(ofFile.tokenText);
  });

  const inPod = { DATAHUB_GMS_URL: 'http://staging:8080', DATAHUB_RETENTION_TOKEN_FILE: '/token/token' };
  it.each<[string, NodeJS.ProcessEnv, RegExp, file?: string]>([
    [
      'https://other.example.com',
      {},
      /^No access token: the one in ~\/\.datahubenv is for another server: give --token/,
    ],
    [
      'http://production',
      staging,
      /^No access token: DATAHUB_GMS_TOKEN is for the server of DATAHUB_GMS_URL, not for --/,
    ],
    [
      'http://production',
      inPod,
      /^No access token: DATAHUB_RETENTION_TOKEN_FILE \/token\/token is for the server of DAT/,
    ],
    [
      '',
      token,
      /^No access token \(not DATAHUB_GMS_TOKEN, which counts only beside/,
      'gms: {server: "http://production"}',
    ],
  ])('never show the token of one server to another: --gms-url %s, %j', (gmsUrl, env, sentence, file = written) => {
    const problem = problemOf(() => readServer(gmsUrl ? { gmsUrl } : {}, { ...home(file), ...env }));
    expect(problem).toMatch(sentence);
    expect(problem).not.toMatch(/secret|the-token-of/);
  });
});

describe('~/.datahubenv', () => {
  it('is read again when the server refuses its token', async () => {
    const env = home(written);
    const { identity } = readServer({}, env);
    writeFileSync(`${env['HOME']}/.datahubenv`, written.replace('secret', 'renewed'));
    expect(await identity.get()).toEqual({ token: 'eyJhbGciOi.secret' });
    expect(await identity.reread()).toEqual({ token: 'eyJhbGciOi.renewed' });
  });

  it("names the certificates of its server's authority", () => {
    const env = home('gms: {server: "https://x", token: abc-def-ghi-jkl, ca_certificate_path: /no/such/ca.pem}');
    expect(problemOf(() => readServer({}, env))).toMatch(
      /^gms\.ca_certificate_path of ~\/\.datahubenv: \/no\/such\/ca\.pem cannot be read/,
    );
  });

  it.each([
    ['auth', '{type: oauth2, config: {client_secret: secret}}', '--token-file'],
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
      const server = readServer({ gmsUrl: 'http://x' }, { ...env, DATAHUB_GMS_TOKEN: 'abc-def-ghi-jkl' });
      expect(server.secrets()).toEqual(['abc-def-ghi-jkl']);
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
