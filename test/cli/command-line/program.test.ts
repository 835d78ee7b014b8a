import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, test } from 'vitest';
import { parseArguments } from '../../../cli/command-line/arguments.ts';
import { programName } from '../../../cli/command-line/verbs.ts';
import { folder } from '../processes.ts';

describe('the name of the program in messages', () => {
  it.each([
    ['/repository/cli/start.mjs', './retention'],
    ['/elsewhere/cli/start.mjs', '/elsewhere/retention'],
    ['/usr/local/bin/datahub-retention', 'datahub-retention'],
    ['/home/me/.npm/_npx/1a2b/node_modules/.bin/datahub-retention', 'datahub-retention'],
    ['/job/cli.mjs', 'node /job/cli.mjs'],
    ["/job's/cli.mjs", "node '/job'\\''s/cli.mjs'"],
    [undefined, './retention'],
  ])('started as %s is %s', (script, name) => {
    expect(programName(script, '/repository')).toBe(name);
  });

  it('has help that names the variables that stand for options', () => {
    const help = (verb: string) => {
      const { text } = parseArguments([verb, '--help'], {}) as { text: string };
      return [...new Set(text.match(/DATAHUB_\w+/g))].sort();
    };
    expect(help('survey')).toEqual(
      expect.arrayContaining(['DATAHUB_GMS_TOKEN', 'DATAHUB_GMS_URL', 'DATAHUB_RETENTION_NAME']),
    );
    expect(help('enforce')).toEqual(
      expect.arrayContaining([...help('survey'), 'DATAHUB_RETENTION_NOTIFY_URL_FILE', 'DATAHUB_RETENTION_POLICIES']),
    );
    expect(help('demo')).toEqual(['DATAHUB_RETENTION_NAME']);
    expect(parseArguments(['--help'], {})).toMatchObject({ text: expect.stringContaining('DATAHUB_RETENTION_ARGS') });
  });

  it('is used in the help and in remedies', () => {
    const help = parseArguments(['--help'], {}, 'datahub-retention') as { text: string };
    expect(help.text).toMatch(/^Usage: datahub-retention VERB/);
    expect(() => parseArguments(['survey', '--polices', 'x'], {}, 'datahub-retention')).toThrow(
      'See datahub-retention survey --help.',
    );
  });
});

const program = fileURLToPath(new URL('../../../retention', import.meta.url));

test('An empty variable counts as unset, whatever it stands for', () => {
  const names = ['NAME', 'LEDGER', 'CA_FILE', 'ARGS', 'POLICIES'];
  const { status, stderr } = spawnSync(program, ['preview'], {
    env: { ...process.env, ...Object.fromEntries(names.map((name) => [`DATAHUB_RETENTION_${name}`, ' '])) },
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(/^preview needs --policies FILE/) });
});

test('A link to the program works from any folder, and a relative path is looked for there', () => {
  const { at } = folder();
  symlinkSync(program, at('first'));
  symlinkSync('first', at('second'));
  const here = dirname(at('second'));
  const options = ['--policies', 'p.json', '--gms-url', 'http://127.0.0.1:9', '--token-file', 't'];
  const { status, stderr } = spawnSync(at('second'), ['preview', ...options], { cwd: here, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringMatching(`cannot be read \\(no such file in ${realpathSync(here)}\\); check the path`),
  });
});

test('npm start refuses an enforce whose option npm has kept', () => {
  const line = ['start', '--silent', 'enforce', 'dataset.operation', '--exclude=chart', '--', '--yes'];
  const { status, stdout, stderr } = spawnSync('npm', line, { cwd: dirname(program), encoding: 'utf8' });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^npm start is the demo alone, .*: type .*\/?retention enforce, with its options\.\n$/);
});

test('A checkout without its packages says how to install them; a program that ends before its work is not ok', () => {
  const { at, write } = folder();
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  for (const file of ['retention', 'cli/start.mjs', 'cli/node-version.mjs']) cpSync(join(root, file), at(file));
  const started = () => spawnSync(at('retention'), ['survey'], { encoding: 'utf8' });
  const stderr = expect.stringMatching(/^Packages of this program are missing: run npm ci --include=dev in \S+ .*\n$/);
  expect(started()).toMatchObject({ status: 2, stdout: '', stderr });
  write(
    'cli/start.mjs',
    readFileSync(at('cli/start.mjs'), 'utf8').replace(/await import\('tsx.*/, 'await new Promise(() => {});'),
  );
  expect(started().status).toBe(1);
});
