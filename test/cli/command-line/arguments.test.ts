import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../../cli/command-line/arguments.ts';
import packageManifest from '../../../package.json' with { type: 'json' };
import { problemOf as problemOfAction } from '../files/problem.ts';

const parse = (line: string, env: NodeJS.ProcessEnv = {}) => parseArguments(line.split(' ').filter(Boolean), env);
const problemOf = (line: string, env: NodeJS.ProcessEnv = {}) => problemOfAction(() => parse(line, env));
const token = { DATAHUB_GMS_TOKEN: 'secret' };
const hook = { DATAHUB_RETENTION_NOTIFY_URL: 'https://hooks.example/T0' };
const server = '--gms-url http://gms:8080 --token-file token.txt';

describe('a verb', () => {
  it('is the demonstration for npm start without arguments, even with a server in the environment', () => {
    const demo = { kind: 'demo', log: 'text', input: { mode: 'enforce' } };
    expect(parse('')).toEqual(demo);
    expect(parse('', { DATAHUB_GMS_URL: 'http://gms:8080', ...token })).toEqual(demo);
    expect(parse('demo')).toEqual(demo);
  });

  it('surveys, with the address from an option or the environment', () => {
    const survey = { kind: 'survey', log: 'text', fast: false };
    expect(parse(`survey ${server}`)).toEqual({
      ...survey,
      server: { gmsUrl: 'http://gms:8080', token: { kind: 'file', path: 'token.txt' } },
    });
    expect(parse('survey', { DATAHUB_GMS_URL: 'http://gms:8080', ...token })).toEqual({
      ...survey,
      server: { gmsUrl: 'http://gms:8080', urlInEnvironment: true, token: { kind: 'text', text: 'secret' } },
    });
    // ~/.datahubenv may have both.
    expect(parse('survey', { DATAHUB_GMS_TOKEN: '  ' })).toEqual({ ...survey, server: {} });
  });

  it('previews and enforces with policies', () => {
    const run = { kind: 'run', fast: false };
    expect(parse(`preview ${server} --policies p.json`)).toMatchObject({ ...run, input: { mode: 'preview' } });
    expect(parse(`enforce ${server} --policies p.json`)).toMatchObject({ ...run, input: { mode: 'enforce' } });
  });

  it('prefers the options to the environment', () => {
    expect(parse(`survey ${server}`, { DATAHUB_GMS_URL: 'http://other', ...token })).toMatchObject({
      server: { gmsUrl: 'http://gms:8080', token: { kind: 'file', path: 'token.txt' } },
    });
  });

  it('collects repeated indices', () => {
    expect(parse(`preview ${server} --policies p.json --only dataset.operation --only chart.x`)).toMatchObject({
      input: { only: ['dataset.operation', 'chart.x'] },
    });
    expect(parse(`clear a.b c.d ${server}`)).toMatchObject({ input: { mode: 'enforce', clear: ['a.b', 'c.d'] } });
  });

  it('takes an approval for one index, and missing rows for one that is cleared', () => {
    const line = `enforce ${server} --policies p.json --only dataset.operation --approve-rows 5000`;
    expect(parse(line)).toMatchObject({ input: { approveRows: 5000 } });
    expect(parse(`clear a.b ${server} --accept-missing 7`)).toMatchObject({
      verb: 'clear',
      input: { clear: ['a.b'], acceptMissing: 7 },
    });
  });

  it('prints a text for --help and for --version', () => {
    for (const line of ['--help', '-h']) expect(parse(line)).toMatchObject({ kind: 'print' });
    expect(parse('survey --help')).toMatchObject({ kind: 'print', text: expect.stringContaining('--gms-url') });
    const version = { kind: 'print', text: `datahub-retention ${packageManifest.version}\n` };
    expect([parse('--version'), parse('survey --version')]).toEqual([version, version]);
  });

  it('takes how to report, under which name, and where the report goes', () => {
    expect(
      parse(`preview ${server} --policies p.json --log json --json r.json --force --name data-platform`),
    ).toMatchObject({ log: 'json', json: { path: 'r.json', force: true }, name: 'data-platform' });
    expect(parse('demo --json -')).toMatchObject({ log: 'text', json: { path: '-', force: false } });
  });

  it('takes where to send the message: by default every run is sent, in the form for Slack', () => {
    expect(parse(`preview ${server} --policies p.json --notify-url-file hook`)).toMatchObject({
      notify: { url: { kind: 'file', path: 'hook' }, format: 'slack', when: 'always' },
    });
    expect(parse(`enforce ${server} --policies p.json --notify problems --notify-format json`, hook)).toMatchObject({
      notify: { url: { kind: 'text', text: 'https://hooks.example/T0' }, format: 'json', when: 'problems' },
    });
  });

  it('sends no message about sample data or a survey because of the environment alone', () => {
    expect(parse('', hook)).not.toHaveProperty('notify');
    expect(parse('demo --notify-url-file hook', hook)).toMatchObject({ notify: { url: { path: 'hook' } } });
    expect(parse(`survey ${server}`, hook)).not.toHaveProperty('notify');
  });
});

const run = `enforce ${server} --policies p.json`;

describe('a command line with a mistake', () => {
  it.each<[string, NodeJS.ProcessEnv, string]>([
    // No verb, or a mistyped one: the message has the command line that works.
    ['surevy', {}, 'There is no verb surevy; did you mean: npm start -- survey'],
    [`prewiev ${server} --policies p`, {}, `did you mean: npm start -- preview ${server} --policies p`],
    ['http://gms:8080', {}, 'none of the verbs survey, preview, enforce, clear, history, validate or demo'],
    [
      server,
      {},
      `A verb comes first (survey, preview, enforce, clear, history, validate or demo): npm start -- survey ${server}`,
    ],
    [`${server} --policies p`, {}, `: npm start -- preview ${server} --policies p`],
    [`${server} --policies p --enforce`, {}, `: npm start -- enforce ${server} --policies p`],
    [`${server} --policies p --clear a.b`, {}, `: npm start -- clear a.b ${server} --policies p`],
    [`--policies p ${server} preview`, {}, `: npm start -- preview --policies p ${server}`],
    ['--only a.b --json r', {}, ': npm start -- demo --only a.b --json r'],
    ['--policies p', { DATAHUB_GMS_URL: 'http://x' }, ': npm start -- preview --policies p'],
    ['--polices p', {}, ': see npm start -- --help'],
    ['--gms-url http://me:secret@x --token-file eyJsecret.x', {}, 'survey --gms-url URL --token-file FILE'],
    // An option of another verb.
    [
      `survey ${server} --policies p`,
      {},
      `--policies is an option of preview, enforce, clear, validate and demo, not of survey: npm start -- preview ${server} --policies p`,
    ],
    [
      `preview ${server} --policies p --only a.b --approve-rows 5`,
      {},
      `--approve-rows is an option of enforce and demo, not of preview: npm start -- enforce ${server} --policies p --only a.b --approve-rows 5`,
    ],
    [`preview ${server} --policies p --enforce`, {}, '--enforce is a verb, not an option: npm start -- enforce'],
    [
      `enforce ${server} --accept-missing=5`,
      {},
      `--accept-missing is an option of clear, not of enforce: npm start -- clear INDEX ${server} --accept-missing 5`,
    ],
    [`clear a.b ${server} --only a.b`, {}, 'not of clear: see npm start -- clear --help'],
    ['demo --gms-url http://x', {}, 'not of demo: npm start -- survey --gms-url http://x'],
    ['demo --ledger l.json', {}, 'not of demo: npm start -- survey --ledger l.json'],
    ['history --gms-url http://x', {}, 'not of history: see npm start -- history --help'],
    [`survey ${server} --notify-url-file https://secret`, {}, '--notify-url-file FILE'],
    // Options that a verb needs.
    [`preview ${server}`, {}, 'preview needs --policies FILE, as in: npm start -- preview'],
    [`clear ${server}`, {}, 'clear needs an INDEX, as in: npm start -- clear dataset.operation'],
    ['validate', {}, 'npm start -- validate --policies policies.json'],
    // Options that do not go together.
    [`clear a.b c.d ${server} --accept-missing 5`, {}, '--accept-missing needs exactly one INDEX'],
    [`${run} --approve-rows 5`, {}, '--approve-rows needs exactly one --only'],
    [`${run} --approve-rows 5 --only a.b --only c.d`, {}, '--approve-rows needs exactly one --only'],
    [`${run} --only a.b --approve-rows 1e3`, {}, 'whole number of rows'],
    [`${run} --only a.b --approve-rows 0`, {}, 'whole number of rows'],
    [`${run} --only operation`, {}, 'entityType.aspect'],
    [`clear operation ${server}`, {}, 'entityType.aspect'],
    [`${run} --policies q.json`, {}, '--policies is given twice'],
    [`survey ${server} --token-file secret`, {}, '--token-file is given twice'],
    [`${run} --name ${'x'.repeat(41)}`, {}, '1 to 40 printable'],
    [`${run} --notify problems`, {}, '--notify needs --notify-url-file'],
    [`${run} --notify-format json`, {}, '--notify-format needs --notify-url-file'],
    [`${run} --notify never`, hook, 'Allowed choices are always, problems'],
    ['demo --log xml', {}, 'Allowed choices are text, json'],
    ['demo --json - --log json', {}, '--json - and --log json both want standard output'],
    ['demo --html -', {}, '--html needs a file'],
    ['demo --force', {}, '--force needs --json'],
    // Options that no verb has.
    [`preview ${server} --polices p.json`, {}, 'Did you mean --policies?'],
    ['survey --notify-url=https://hooks.example/secret', {}, "unknown option '--notify-url'"],
    ['survey --gms-url', {}, 'argument missing'],
    ['survey http://secret:8080', {}, 'options begin with --, as in: npm start -- survey --gms-url'],
  ])('%s %o is refused in one line, with the remedy', (line, env, remedy) => {
    const problem = problemOf(line, env);
    expect(problem).toContain(remedy);
    expect(problem).not.toMatch(/\n|secret/);
  });
});
