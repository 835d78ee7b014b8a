import { mkdirSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readServer } from '../../../cli/inputs/server.ts';
import { folder } from '../processes.ts';
import { problemOf } from './problem.ts';

/** A home folder with the file that `datahub init` writes: PyYAML's block style, keys in alphabetical order. */
function home(content: unknown): NodeJS.ProcessEnv {
  const files = folder((cleanUp) => onTestFinished(cleanUp));
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
const token = { kind: 'text', text: 'abc' } as const;

describe('~/.datahubenv', () => {
  it('provides server and token when nothing else does, and is named as their source', async () => {
    const server = readServer({}, home(written));
    expect(server).toMatchObject({
      baseUrl: 'https://datahub.example.com/api/gms',
      from: { url: '~/.datahubenv', token: '~/.datahubenv' },
    });
    expect(await server.token.get()).toBe('eyJhbGciOi.secret');
  });

  it('is used last, after options and environment', () => {
    const env = home(written);
    expect(readServer({ gmsUrl: 'http://other:8080', token }, env)).toMatchObject({
      baseUrl: 'http://other:8080',
      tokenText: 'abc',
      from: { url: '--gms-url', token: 'DATAHUB_GMS_TOKEN' },
    });
    expect(readServer({ gmsUrl: 'http://other:8080', urlInEnvironment: true, token }, env).from).toEqual({
      url: 'DATAHUB_GMS_URL',
      token: 'DATAHUB_GMS_TOKEN',
    });
    expect(readServer({ token }, env).from).toEqual({ url: '~/.datahubenv', token: 'DATAHUB_GMS_TOKEN' });
  });

  it('sends its token only to its own server', () => {
    const env = home(written);
    expect(readServer({ gmsUrl: 'https://datahub.example.com:443/api/gms' }, env).tokenText).toBe('eyJhbGciOi.secret');
    const problem = problemOf(() => readServer({ gmsUrl: 'https://other.example.com' }, env));
    expect(problem).toMatch(/^No access token: the one in ~\/\.datahubenv is for another server; give --token-file/);
    expect(problem).not.toContain('secret');
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
    ['has no token', 'gms: {server: "http://x"}', /^No access token: give --token-file FILE or set/],
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

  it('that cannot be read is named', () => {
    const files = folder((cleanUp) => onTestFinished(cleanUp));
    mkdirSync(files.at('.datahubenv'));
    expect(problemOf(() => readServer({}, { HOME: files.at('.') }))).toMatch(
      /^~\/\.datahubenv cannot be read \(it is a folder\)/,
    );
  });
});
