import { describe, expect, test } from 'vitest';
import { inputOf, parseArguments, splitWords } from '../../../cli/command-line/arguments.ts';
import type { CommandLine } from '../../../cli/command-line/read.ts';
import { exampleOf, verbNames, verbs } from '../../../cli/command-line/verbs.ts';
import { problemOf as refusalOf } from '../inputs/problem.ts';

const parse = (line: string, env: NodeJS.ProcessEnv = {}, program?: string) =>
  parseArguments(line.split(' ').filter(Boolean), env, program);

/** The execution's input of a run. */
const input = (line: string) => inputOf(parse(line) as CommandLine);

const problemOf = (line: string, env?: NodeJS.ProcessEnv, program?: string): string =>
  refusalOf(() => parse(line, env, program));

const server = '--gms-url http://gms:8080 --token-file token.txt';
const run = `enforce ${server} --policies p.json`;

describe('The command line', () => {
  test.each(['npm-start', 'npm-start demo'])(
    'is the demo for npm start, even with a server in the environment: %s',
    (line) => {
      expect(parse(line, { DATAHUB_GMS_URL: 'http://gms:8080' })).toEqual(parse('demo'));
      expect(parse(`${line} --json x`)).toEqual(parse('demo --json x'));
    },
  );

  test.each(verbNames.filter((verb) => verb !== 'demo'))('%s is refused for npm start, with what to type', (verb) => {
    expect(problemOf(`npm-start ${verb} ${verbs[verb].example}`)).toMatch(
      new RegExp(`^npm start is the demo alone, .*: type ./retention ${verb}, with its options\\.$`),
    );
  });

  test('of a container has no effect below npm start, which would be no demo then', () => {
    expect(problemOf('npm-start', { DATAHUB_RETENTION_ARGS: 'enforce --yes' })).toMatch(/unset it/);
  });

  test.each([
    [`${run} --yes=false`, /^--yes takes no value\./],
    ['preview -teyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl', /^(?!.*eyJ)/],
  ])('%s is answered in one sentence that repeats no secret', (line, sentence) => {
    expect(problemOf(line)).toMatch(sentence);
  });

  test('with a token in a variable is refused without showing it, and by a run reported', () => {
    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl\u0007';
    const sentence = /^An access token was given in place of another argument(?!.*eyJ)/;
    expect(problemOf('status', { DATAHUB_RETENTION_LEDGER: token })).toMatch(sentence);
    expect(parse(run, { DATAHUB_RETENTION_NAME: token })).toMatchObject({
      mistakes: [expect.stringMatching(sentence)],
    });
    // Another ledger, or none of the policies, would be reported.
    expect(problemOf(run, { DATAHUB_RETENTION_LEDGER: token })).toMatch(sentence);
    expect(problemOf('preview', { DATAHUB_RETENTION_POLICIES: 'Bearer of-somebody' })).toMatch(sentence);
  });

  test('without a verb is its help, as a mistake', () => {
    expect(problemOf('', {}, 'datahub-retention')).toContain('Usage: datahub-retention VERB [options]');
    expect(problemOf('')).toContain('Usage: ./retention VERB [options]');
  });

  test.each(['preview', 'enforce'] as const)('%s has its mode, its server and its policies', (verb) => {
    const line = `${verb} ${server} a.b --policies p.json c.d`;
    expect(parse(line)).toMatchObject({ verb, gmsUrl: 'http://gms:8080', tokenFile: 'token.txt', policies: 'p.json' });
    expect(input(line)).toEqual({ mode: verb, indices: ['a.b', 'c.d'] });
  });

  test('takes an approval for one index, and missing rows for one that is released', () => {
    expect(input(`${run} a.b --approve-rows 5000`)).toMatchObject({ approveRows: 5000 });
    expect(input(`release a.b ${server} --accept-missing 7`)).toEqual({
      mode: 'enforce',
      release: ['a.b'],
      acceptMissing: 7,
    });
  });

  test('posts to the address in the file of the environment, and as it says, but not in a demonstration', () => {
    const env = {
      DATAHUB_RETENTION_NOTIFY_URL_FILE: '/hook',
      DATAHUB_RETENTION_NOTIFY: 'problems',
      DATAHUB_RETENTION_NOTIFY_FORMAT: 'teams',
    };
    expect(parse(run, env)).toMatchObject({ notifyUrlFile: '/hook', notify: 'problems', notifyFormat: 'teams' });
    expect(parse(`${run} --notify-format json`, env)).toMatchObject({ notify: 'problems', notifyFormat: 'json' });
    for (const name of ['notifyUrlFile', 'notify', 'notifyFormat']) expect(parse('demo', env)).not.toHaveProperty(name);
    expect(parse('enforce --help')).toMatchObject({ text: expect.not.stringMatching(/NOTIFY(?:_FORMAT)?\)/) });
    const sentence = /^--notify-format \(or DATAHUB_RETENTION_NOTIFY_FORMAT\) takes slack or /;
    expect(parse(run, { ...env, DATAHUB_RETENTION_NOTIFY_FORMAT: 'fax' })).toMatchObject({
      mistakes: [expect.stringMatching(sentence)],
    });
  });

  test('takes the limits of a stage, from the environment too, where the chart has them', () => {
    const limits = '--min-retention-days 3 --max-run-hours 24 --max-rows-per-run 5000';
    const all = { minRetentionDays: 3, maxRunHours: 24, maxRowsPerRun: 5000 };
    for (const given of [run, `release a.b ${server}`]) expect(parse(`${given} ${limits}`)).toMatchObject(all);
    const env = { DATAHUB_RETENTION_MAX_RUN_HOURS: '25' };
    const sentence = '--max-run-hours (or DATAHUB_RETENTION_MAX_RUN_HOURS) takes a whole number of hours, 1 to 24';
    expect(parse(run, env)).toMatchObject({ mistakes: [expect.stringContaining(sentence)] });
  });

  test.each([
    ['a preview of the chart', 'preview --fail-on=failed', { DATAHUB_RETENTION_CRON_JOB: 'retention' }],
    ['no arguments', '', {}],
  ])('comes from DATAHUB_RETENTION_ARGS in the place of %s', (_, given, env) => {
    const words = "status --ledger '/a b/ledger'";
    expect(parse(given, { ...env, DATAHUB_RETENTION_ARGS: words }, 'datahub-retention')).toMatchObject({
      verb: 'status',
      ledger: '/a b/ledger',
    });
  });

  test.each([
    ['a preview', 'preview --policies p.json', {}],
    ['status', 'status', { DATAHUB_RETENTION_CRON_JOB: 'retention' }],
    ['--help', '--help', {}],
  ])('is refused where %s was typed, and DATAHUB_RETENTION_ARGS says something else', (_, given, env) => {
    expect(problemOf(given, { ...env, DATAHUB_RETENTION_ARGS: 'enforce --yes --policies p.json' })).toMatch(
      /^Arguments were typed, and DATAHUB_RETENTION_ARGS holds others/,
    );
  });

  test('refuses an empty argument, which a shell has lost', () => {
    const given = ['preview', '--policies', 'p.json', '--gms-url', 'http://gms:8080'];
    expect(() => parseArguments([...given, '--json', ''], {})).toThrow('--json is empty: give it a value');
    expect(() => parseArguments([...given, '--ledger='], {})).toThrow(
      '--ledger (or DATAHUB_RETENTION_LEDGER) is empty',
    );
  });

  test('takes the policies of a run from DATAHUB_RETENTION_POLICIES where no --policies is given', () => {
    expect(() => parse('preview')).toThrow('preview needs --policies FILE');
    const env = { DATAHUB_RETENTION_POLICIES: '/policies/p.json' };
    expect(parse('preview', env)).toMatchObject({ policies: '/policies/p.json' });
    expect(parse('enforce --policies mine.json', env)).toMatchObject({ policies: 'mine.json' });
    expect(parse('validate --policies -', env)).toMatchObject({ policies: '/dev/stdin' });
    expect(parse('demo', env)).not.toHaveProperty('policies');
    expect(() => parse('validate', env)).toThrow('validate needs --policies FILE');
  });

  test.each<[string, string[]]>([
    ['a  b\tc\n', ['a', 'b', 'c']],
    [`--name 'my data' "it's" ''`, ['--name', 'my data', "it's", '']],
    [`--name=a"."b`, ['--name=a.b']],
    ['$HOME *.json a;b', ['$HOME', '*.json', 'a;b']],
    ['', []],
  ])('%j is split as a shell would, and nothing in it is expanded', (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });

  test.each(verbNames)('help %s says the same as %s --help, with the example of its verb', (verb) => {
    const help = parse(`${verb} --help`);
    expect(parse(`help ${verb}`)).toEqual(help);
    expect(help).toMatchObject({ verb: 'print', text: expect.stringContaining(exampleOf('./retention', verb)) });
  });

  test.each(verbNames)('the example of %s is understood', (verb) => {
    expect(parse(`${verb} ${verbs[verb].example}`)).not.toMatchObject({ verb: 'print' });
  });

  test('shows what an option takes where that is one of a few words', () => {
    expect(parse('enforce --help')).toMatchObject({
      text: expect.stringMatching(/--log .*\(choices: "text", "json"/s),
    });
  });

  test('prints its version, also behind a verb', () => {
    const version = { verb: 'print', text: `datahub-retention 0.0.0+test\n` };
    expect([parse('--version'), parse('survey --version')]).toEqual([version, version]);
  });
});

describe('A command line with a mistake', () => {
  test.each<[string, string]>([
    // No verb, or one that there is not.
    ['prewiev', 'did you mean preview?'],
    ['frobnicate a.b', 'the verbs are demo, survey, preview, enforce, release, status, runbook and validate'],
    ['http://me:secret@gms:8080', 'There is no such verb'],
    ['--policies p', 'A verb comes first (demo, survey, preview, enforce, release, status, runbook or validate)'],
    // What people type who know other programs.
    ['plan', 'did you mean preview?'],
    ['apply --policies p', 'did you mean enforce?'],
    ['run', 'did you mean enforce?'],
    ['delete a.b', 'did you mean enforce?'],
    ['truncate', 'did you mean enforce?'],
    ['doctor', 'did you mean survey?'],
    ['check', 'did you mean validate --policies FILE for a file, and survey for a server?'],
    ['version', 'did you mean --version?'],
    ['undo', 'There is no undo: without a snapshot of the search cluster, deleted rows are gone.'],
    ['survey -ojson', 'There is no option -o. See'],
    ['survey --token=secret', 'There is no option --token; did you mean --token-file?'],
    [`preview ${server} --policy p`, 'There is no option --policy; did you mean --policies?'],
    [`preview ${server} --policies p --dry-run`, 'There is no option --dry-run. See ./retention preview --help.'],
    [`${run} --Secret`, 'There is no option of this name.'],
    // Another verb's option.
    [`preview ${server} --policies p --approve-rows 5`, '--approve-rows is an option of demo and enforce, not of'],
    [`${run} --accept-missing=5`, '--accept-missing is an option of release, not of enforce'],
    [`release a.b ${server} --yes`, '--yes is an option of enforce, not of release'],
    [
      'status --gms-url http://x',
      '--gms-url is an option of survey, preview, enforce, release and runbook, not of status',
    ],
    // What a verb needs.
    [`preview ${server}`, 'preview needs --policies FILE, as in: ./retention preview'],
    [`release ${server}`, 'release needs an INDEX, as in: ./retention release dataset.operation'],
    ['validate', './retention validate --policies policies.json'],
    // What does not go together.
    [`release a.b c.d ${server} --accept-missing 5`, '--accept-missing needs exactly one INDEX'],
    [`${run} --approve-rows 5`, '--approve-rows needs exactly one INDEX'],
    [`${run} --notify problems`, '--notify needs --notify-url-file FILE'],
    [`${run} --notify-format json`, '--notify-format needs --notify-url-file FILE'],
    ['demo --json - --log json', '--json - and --log json both want standard output'],
    ['preview --policies - --token-file -', '--policies - and --token-file - both want standard input'],
    ['demo --metrics-file -', '--metrics-file needs the name of a file'],
    [`${run} --policies q.json`, '--policies (or DATAHUB_RETENTION_POLICIES) is given twice'],
    [`${run} --json --force`, '--json needs a value before the next option'],
    [
      `enforce demo ${server}`,
      'demo is no INDEX: it is entityType.aspect, e.g. dataset.operation. See ./retention enforce --help.',
    ],
    ['enforce demo --nothing', 'See ./retention enforce --help'],
    // Values.
    [`${run} http://secret@gms`, 'That is no INDEX: it is entityType.aspect'],
    [`release operation ${server}`, 'entityType.aspect, e.g. dataset.operation'],
    [`${run} a.b --approve-rows 1e3`, 'a whole number of rows, at least 1'],
    [`${run} a.b --approve-rows 0`, 'a whole number of rows, at least 1'],
    ['survey --timeout 601', 'a whole number of seconds, 1 to 600'],
    [`${run} --name ${'x'.repeat(41)}`, '1 to 40 printable ASCII characters'],
    [`${run} --fail-on never`, '--fail-on takes attention or failed.'],
    ['demo --log xml', '--log takes text or json.'],
    ['survey --gms-url', '--gms-url needs a value. See'],
    // What is nothing at all.
    ['survey --polices x', 'There is no option --polices; did you mean --policies? See ./retention survey --help.'],
    ['survey --notify-url=https://hooks.example/secret', 'There is no option --notify-url.'],
    [`${run} eyJhbGciOiJIUzI1NiJ9.secret`, 'put it into a file, and name that with --token-file'],
    ['survey --timeout=eyJhbGciOiJIUzI1NiJ9.secret', 'put it into a file, and name that with --token-file'],
    ['survey http://me:secret@gms:8080', '(options begin with --), as in: ./retention survey --gms-url'],
  ])('%s is told in one line, with the remedy, and repeats no secret', (line, remedy) => {
    const problem = problemOf(line);
    expect(problem).toContain(remedy);
    expect(problem).not.toMatch(/\n|secret/);
  });

  test('in DATAHUB_RETENTION_ARGS is a quote that is not closed', () => {
    expect(problemOf('', { DATAHUB_RETENTION_ARGS: "release 'a.b" })).toMatch(/^DATAHUB_RETENTION_ARGS has a quote/);
  });
});
