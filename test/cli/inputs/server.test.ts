import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { homeOf } from '../../../cli/inputs/datahubenv.ts';
import { readServer } from '../../../cli/inputs/server.ts';
import { defaultLedgerPath } from '../../../cli/ledgers/choose.ts';
import { programs } from '../../programs.ts';
import { folder } from '../processes.ts';
import { problemOf } from './problem.ts';

const certificate = (name: string) =>
  fileURLToPath(new URL(`../../lambda/gms/http/certificates/${name}.pem`, import.meta.url));

it.each([{ DATAHUB_GMS_PORT: '8080' }, { DATAHUB_RETENTION_TOKEN_FILE: '-' }])(
  'What the options name already is not read in %j',
  async (env) => {
    const path = folder().write('token', 'abc.def.ghi.jkl');
    expect(await readServer({ gmsUrl: 'http://gms:8080', tokenFile: path }, env).identity.get()).toEqual({
      token: 'abc.def.ghi.jkl',
    });
  },
);

test('An empty HOME is no folder of its own, and a relative folder for state is ignored', () => {
  vi.stubEnv('HOME', '');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(homeOf()).toMatch(/^\//);
  expect(isAbsolute(defaultLedgerPath({ XDG_STATE_HOME: 'state' }, false))).toBe(true);
});

describe('an access token', () => {
  const server = (path: string) => readServer({ gmsUrl: 'http://gms:8080', tokenFile: path }, {});

  it('is trimmed', async () => {
    const path = folder().write('token', '\n  abc.def.ghi.jkl \r\n');
    expect(await server(path).identity.get()).toEqual({ token: 'abc.def.ghi.jkl' });
  });

  it('is read again when the server refuses it, with its age', async () => {
    const path = folder().write('token', 'the-old-token-1');
    const { identity } = server(path);
    writeFileSync(path, 'the-new-token-2\n');
    expect(await identity.get()).toEqual({ token: 'the-old-token-1' });
    expect(await identity.reread()).toEqual({ token: 'the-new-token-2' });
    expect(identity.storedAt?.()).toBe(statSync(path).mtimeMs);
    expect(await identity.get()).toEqual({ token: 'the-new-token-2' });
  });

  it.each([
    ['empty', ' \n', /is empty/],
    ['two words', 'secret words', /does not hold a token/],
    ['a token in quotes', '"secret"\n', /holds a token in quotes: put only the access token there\.$/],
    ['a page', '<html>secret</html>', /holds more than a token/],
    ['an address', 'https://hooks.example.com/services/secret', /holds more than a token/],
    ['a token with a line break in it', 'secret\ntoken', /line breaks.*: put only the access token there\.$/],
  ])('file that is %s is refused without showing it', (_name, content, problem) => {
    const path = folder().write('token', content);
    const message = problemOf(() => server(path));
    expect(message).toMatch(problem);
    expect(message).not.toContain('secret');
  });

  const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln';
  it.each([token, `"${token}"`, 'Bearer abc', 'hooks.slack.com/services/T0/B0/abc'])(
    'given in place of a file name is not printed',
    (given) => {
      const message = problemOf(() => server(given));
      expect(message).toMatch(/^--token-file takes the name of a file/);
      expect(message).not.toContain(given);
    },
  );
});

test('A file in a folder whose name is like an address is read', () => {
  const cwd = folder().at('.');
  mkdirSync(join(cwd, 'a.b.conf'));
  writeFileSync(join(cwd, 'a.b.conf/webhook'), 'two words');
  const args = ['survey', '--gms-url', 'http://127.0.0.1:1', '--token-file', 'a.b.conf/webhook'];
  const { stderr } = spawnSync(process.execPath, [programs.start, ...args], { cwd, encoding: 'utf8' });
  expect(stderr).toMatch(/^--token-file a\.b\.conf\/webhook does not hold a token/);
});

describe('a server', () => {
  const env = { DATAHUB_GMS_TOKEN: 'abc-def-ghi-jkl' };

  it.each(['ftp://gms', 'gms:8080', 'http://', 'http://user:pw@gms', 'http://gms/operations?action=x'])(
    'is refused at the address %s',
    (gmsUrl) => {
      const message = problemOf(() => readServer({ gmsUrl }, env));
      expect(message).toMatch(/^--gms-url: The GMS address/);
      expect(message).not.toContain('pw');
    },
  );

  it.each([
    [{ caFile: 'package.json' }, /^--ca-file .*PEM/],
    [{ clientKey: 'tls.key' }, /^--client-key needs --client-certificate/],
    [{ clientCertificate: 'tls.crt', gmsUrl: 'http://gms' }, /^--client-certificate .* with https/],
  ])('is refused with %j', (options, problem) => {
    expect(problemOf(() => readServer({ gmsUrl: 'https://gms', ...options }, env))).toMatch(problem);
  });

  it('is read again from its file, and stays what it was where that cannot be used', () => {
    const { write, at } = folder();
    const pem = (name: string) => readFileSync(certificate(name), 'utf8');
    const { ca } = readServer({ gmsUrl: 'https://gms', caFile: write('ca.pem', pem('ca')) }, env);
    write('ca.pem', pem('other-host'));
    expect(ca?.()).toBe(pem('other-host'));
    write('ca.pem', 'half a fi');
    expect(ca?.()).toBe(pem('other-host'));
    rmSync(at('ca.pem'));
    expect(ca?.()).toBe(pem('other-host'));
  });

  it('is trusted by --ca-file in addition to NODE_EXTRA_CA_CERTS, which Node would forget', () => {
    const [caFile, extra] = [certificate('ca'), certificate('server')];
    const pems = readServer({ gmsUrl: 'https://gms', caFile }, { ...env, NODE_EXTRA_CA_CERTS: extra }).ca?.();
    expect(pems?.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    const withoutIt = { ...env, NODE_EXTRA_CA_CERTS: '/no/such/file' };
    expect(readServer({ gmsUrl: 'https://gms', caFile }, withoutIt).ca?.()).toContain('BEGIN CERTIFICATE');
  });
});
