import { describe, expect, it } from 'vitest';
import { parseArguments, UsageError } from '../../../local/command-line/arguments.ts';

const parse = (line: string, env: NodeJS.ProcessEnv = {}) => parseArguments(line.split(' ').filter(Boolean), env);
const token = { DATAHUB_GMS_TOKEN: 'secret' };
const server = '--gms-url http://gms:8080 --token-file token.txt';

function problemOf(line: string, env: NodeJS.ProcessEnv = {}): string {
  try {
    parse(line, env);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as UsageError).message;
  }
  throw new Error(`${line} was taken`);
}

describe('what the command line asks for', () => {
  it('is a run against the embedded service without any option', () => {
    expect(parse('')).toEqual({ kind: 'embedded', input: { mode: 'enforce' } });
  });

  it('is a survey with an address alone', () => {
    expect(parse(server)).toEqual({
      kind: 'survey',
      server: { gmsUrl: 'http://gms:8080', token: { kind: 'file', path: 'token.txt' } },
    });
  });

  it('is a survey with the address in the environment alone', () => {
    expect(parse('', { DATAHUB_GMS_URL: 'http://gms:8080', ...token })).toEqual({
      kind: 'survey',
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
    const line = `${server} --policies p.json --enforce --only dataset.operation --only chart.x --clear a.b --clear c.d`;
    expect(parse(line)).toMatchObject({ input: { only: ['dataset.operation', 'chart.x'], clear: ['a.b', 'c.d'] } });
  });

  it('takes an approval for one index', () => {
    const line = `${server} --policies p.json --enforce --only dataset.operation --approve-rows 5000`;
    expect(parse(line)).toMatchObject({ input: { approveRows: 5000 } });
  });

  it('is a text for --help', () => {
    const help = parse('--help');
    expect(help.kind === 'help' && help.text).toContain('--gms-url');
  });
});

describe('a command line that cannot be meant', () => {
  it.each([
    ['--enforce', {}, '--enforce needs --policies'],
    [`${server} --enforce`, {}, '--enforce needs --policies'],
    ['--policies p.json --enforce', {}, '--enforce needs --gms-url'],
    ['--token-file token.txt', {}, '--token-file needs --gms-url'],
    ['--ledger l.json', {}, '--ledger needs --gms-url'],
    ['--ca-file ca.pem', {}, '--ca-file needs --gms-url'],
    [`${server} --policies p.json --clear a.b`, {}, '--clear needs --enforce'],
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
    ['--gms-url http://gms:8080', {}, '--token-file FILE or set DATAHUB_GMS_TOKEN'],
    ['--gms-url http://gms:8080', { DATAHUB_GMS_TOKEN: '  ' }, '--token-file FILE or set DATAHUB_GMS_TOKEN'],
    ['--polices p.json', {}, 'Did you mean --policies?'],
    ['--gms-url', {}, 'argument missing'],
    ['http://gms:8080', {}, 'npm start -- --gms-url'],
    ['', { npm_config_gms_url: 'true' }, 'npm kept --gms-url for itself'],
    ['', { npm_config_enforce: 'true' }, 'npm kept --enforce for itself'],
  ])('%s %o is refused with the remedy', (line, env, remedy) => {
    expect(problemOf(line, env)).toContain(remedy);
  });

  it('is refused in one line', () => {
    expect(problemOf('--polices p.json')).not.toContain('\n');
  });
});
