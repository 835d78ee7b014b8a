import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../../local/command-line/arguments.ts';
import packageManifest from '../../../package.json' with { type: 'json' };
import { problemOf as problemOfAction } from '../files/problem.ts';

const parse = (line: string, env: NodeJS.ProcessEnv = {}) => parseArguments(line.split(' ').filter(Boolean), env);
const problemOf = (line: string, env: NodeJS.ProcessEnv = {}) => problemOfAction(() => parse(line, env));
const token = { DATAHUB_GMS_TOKEN: 'secret' };
const hook = { DATAHUB_RETENTION_NOTIFY_URL: 'https://hooks.example/T0' };
const server = '--gms-url http://gms:8080 --token-file token.txt';

describe('what the command line asks for', () => {
  it('is a run against the embedded service without any option', () => {
    expect(parse('')).toEqual({ kind: 'embedded', log: 'text', input: { mode: 'enforce' } });
  });

  it('is a survey with an address alone', () => {
    expect(parse(server)).toEqual({
      kind: 'survey',
      log: 'text',
      server: { gmsUrl: 'http://gms:8080', token: { kind: 'file', path: 'token.txt' } },
    });
  });

  it('is a survey with the address in the environment alone', () => {
    expect(parse('', { DATAHUB_GMS_URL: 'http://gms:8080', ...token })).toEqual({
      kind: 'survey',
      log: 'text',
      server: { gmsUrl: 'http://gms:8080', token: { kind: 'text', text: 'secret' } },
    });
  });

  it('is a preview with policies', () => {
    expect(parse(`${server} --policies p.json`)).toMatchObject({
      kind: 'run',
      input: { mode: 'preview' },
      fast: false,
    });
  });

  it('is an enforcing run with --enforce alone', () => {
    expect(parse(`${server} --policies p.json --enforce`)).toMatchObject({ kind: 'run', input: { mode: 'enforce' } });
  });

  it('prefers the options to the environment', () => {
    expect(parse(server, { DATAHUB_GMS_URL: 'http://other', ...token })).toMatchObject({
      server: { gmsUrl: 'http://gms:8080', token: { kind: 'file', path: 'token.txt' } },
    });
  });

  it('collects repeated indices', () => {
    expect(parse(`${server} --policies p.json --enforce --only dataset.operation --only chart.x`)).toMatchObject({
      input: { only: ['dataset.operation', 'chart.x'] },
    });
    // Clearing changes the ledger, and starts nothing: no --enforce is asked for.
    expect(parse(`${server} --policies p.json --clear a.b --clear c.d`)).toMatchObject({
      input: { mode: 'enforce', clear: ['a.b', 'c.d'] },
    });
  });

  it('takes an approval for one index, and missing rows for one that is cleared', () => {
    const line = `${server} --policies p.json --enforce --only dataset.operation --approve-rows 5000`;
    expect(parse(line)).toMatchObject({ input: { approveRows: 5000 } });
    expect(parse(`${server} --policies p.json --clear a.b --accept-missing 7`)).toMatchObject({
      input: { clear: ['a.b'], acceptMissing: 7 },
    });
  });

  it('is a text for --help and for --version', () => {
    const help = parse('--help');
    expect(help.kind === 'print' && help.text).toContain('--gms-url');
    expect(parse('--version')).toEqual({ kind: 'print', text: `datahub-retention ${packageManifest.version}\n` });
  });

  it('is how it is told, and where the report goes', () => {
    expect(parse(`${server} --policies p.json --log json --json r.json --force`)).toMatchObject({
      log: 'json',
      json: { path: 'r.json', force: true },
    });
    expect(parse('--json -')).toMatchObject({ log: 'text', json: { path: '-', force: false } });
  });

  it('is who is told: everybody always, in the form of Slack, if nothing else is said', () => {
    expect(parse(`${server} --policies p.json --notify-url-file hook`)).toMatchObject({
      notify: { url: { kind: 'file', path: 'hook' }, format: 'slack', when: 'always' },
    });
    expect(parse(`${server} --policies p.json --notify problems --notify-format json`, hook)).toMatchObject({
      notify: { url: { kind: 'text', text: 'https://hooks.example/T0' }, format: 'json', when: 'problems' },
    });
  });

  it('tells nobody of sample data or a survey by the environment alone', () => {
    expect(parse('', hook)).not.toHaveProperty('notify');
    expect(parse('--notify-url-file hook', hook)).toMatchObject({ notify: { url: { path: 'hook' } } });
    expect(parse(server, hook).kind).toBe('survey');
  });
});

describe('a command line that cannot be meant', () => {
  it.each<[string, NodeJS.ProcessEnv, string]>([
    ['--enforce', {}, '--enforce needs --policies'],
    [`${server} --enforce`, {}, '--enforce needs --policies'],
    ['--policies p.json --enforce', {}, '--enforce needs --gms-url'],
    ['--token-file token.txt', {}, '--token-file needs --gms-url'],
    ['--ledger l.json', {}, '--ledger needs --gms-url'],
    ['--ca-file ca.pem', {}, '--ca-file needs --gms-url'],
    [
      `${server} --policies p.json --clear a.b --only a.b`,
      {},
      '--clear cannot be combined with --only or --approve-rows',
    ],
    [`${server} --policies p.json --accept-missing 5`, {}, '--accept-missing needs exactly one --clear'],
    [`${server} --policies p.json --approve-rows 5`, {}, '--approve-rows needs exactly one --only'],
    [
      `${server} --policies p.json --approve-rows 5 --only a.b --only c.d`,
      {},
      '--approve-rows needs exactly one --only',
    ],
    [`${server} --policies p.json --only a.b --approve-rows 1e3`, {}, 'whole number of rows'],
    [`${server} --policies p.json --only a.b --approve-rows 0`, {}, 'whole number of rows'],
    [`${server} --policies p.json --only operation`, {}, 'entityType.aspect'],
    [`${server} --only dataset.operation`, {}, '--only needs --policies'],
    [`${server} --ledger l.json`, {}, '--ledger needs --policies'],
    [`${server} --notify-url-file hook`, {}, '--notify-url-file needs --policies'],
    [`${server} --policies p.json --notify problems`, {}, '--notify needs --notify-url-file'],
    [`${server} --policies p.json --notify-format json`, {}, '--notify-format needs --notify-url-file'],
    [`${server} --policies p.json --notify never`, hook, 'Allowed choices are always, problems'],
    ['--log xml', {}, 'Allowed choices are text, json'],
    ['--json - --log json', {}, '--json - and --log json both want standard output'],
    ['--force', {}, '--force needs --json'],
    ['--gms-url http://gms:8080', {}, '--token-file FILE or set DATAHUB_GMS_TOKEN'],
    ['--gms-url http://gms:8080', { DATAHUB_GMS_TOKEN: '  ' }, '--token-file FILE or set DATAHUB_GMS_TOKEN'],
    ['--polices p.json', {}, 'Did you mean --policies?'],
    ['--notify-url=https://hooks.example/secret', {}, "unknown option '--notify-url'"],
    ['--gms-url', {}, 'argument missing'],
    ['http://gms:8080', {}, 'npm start -- --gms-url'],
  ])('%s %o is refused with the remedy, in one line', (line, env, remedy) => {
    const problem = problemOf(line, env);
    expect(problem).toContain(remedy);
    expect(problem).not.toMatch(/\n|secret/);
  });
});
