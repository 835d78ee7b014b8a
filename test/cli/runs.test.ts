import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answering, inFront, operation, runHere, serviceHere } from './here.ts';
import { startReceiver } from './outputs/receiver.ts';
import { folder, outcomesOf } from './processes.ts';

const samplePolicies = JSON.parse(
  readFileSync(new URL('../../cli/embedded-service/sample-policies.json', import.meta.url), 'utf8'),
);
const withoutCeiling = samplePolicies.map((policy: object) => ({ ...policy, maxDeletePercent: 100 }));
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

describe('A run', () => {
  test('truncates, counts again, and says so on screen, in its report and in its figures', async () => {
    const { run, files, sent, token } = await serviceHere();
    const written = ['--json', files.at('report.json'), '--metrics-file', files.at('figures.prom')];
    const { status, stdout } = await runHere(run('enforce', withoutCeiling, ...written));
    const report = files.report('report.json');
    expect([status, report.result, report.mode]).toEqual([0, 'ok', 'enforce']);
    expect(new Set(Object.values(outcomesOf(report)))).toEqual(
      new Set(['truncated', 'below-threshold', 'nothing-to-delete', 'disabled']),
    );
    expect(sent()).toHaveLength(report.policies.filter(({ outcome }) => outcome === 'truncated').length);
    expect(stdout).toMatch(/^dataset\.operation: truncated, 573 of 818 rows deleted .*verified by counting again\.$/m);
    expect(stdout).not.toMatch(control);
    const figures = readFileSync(files.at('figures.prom'), 'utf8');
    expect(figures).toContain(
      '\ndatahub_retention_index_rows_deleted{stage="127.0.0.1",mode="enforce",index="dataset.operation"} 573\n',
    );
    expect(figures).toContain('\ndatahub_retention_run_result{stage="127.0.0.1",mode="enforce"} 0\n');
    expect(figures).toMatch(/\n# EOF\n$/);
    expect(stdout + JSON.stringify(report) + figures).not.toContain(token);
  });

  test('goes its way where its figures cannot be written, says so, and ends with 1', async () => {
    const { run, sent } = await serviceHere();
    const { status, stdout } = await runHere(run('enforce', [operation], '--metrics-file', '/no/such/folder/f.prom'));
    expect([status, sent().length]).toEqual([1, 1]);
    expect(stdout).toMatch(
      /^ {2}--metrics-file \/no\/such\/folder\/f\.prom was not written: there is no folder \/no\/such\/folder; make it/m,
    );
  });

  test('as a preview sends no real truncate, and leaves no record (rule 6)', async () => {
    const { run, files, sent, ledger } = await serviceHere();
    const { status, stdout } = await runHere(run('preview', withoutCeiling));
    expect([status, sent()]).toEqual([0, []]);
    expect(stdout).toMatch(/^Mode {4}PREVIEW: nothing is changed/m);
    expect(stdout).toMatch(/^Subject: \[DataHub retention\] PREVIEW 127\.0\.0\.1: /m);
    expect(readdirSync(files.at('ledger'))).toEqual(['.last-run.json']);
    expect((await runHere(['status', ...ledger])).stdout).toContain('It has no record');
  });

  test('as a demo decides as README.md shows it', async () => {
    const still = samplePolicies
      .map(({ entityType, aspect }: typeof operation) => `${entityType}.${aspect}`)
      .filter((name: string) => !/operation|RunEvent|datasetUsage/.test(name));
    const { stdout } = await runHere(['demo', ...still]);
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8').replace(/ +/g, ' ');
    const rows = stdout.split('\n').filter((line) => still.includes(line.split(' ')[0] ?? '') && !line.includes(':'));
    expect(rows).toHaveLength(still.length);
    for (const row of rows) expect(readme).toContain(`\n ${row.replace(/ +/g, ' ')}\n`);
  });

  test('as a demo shows an index above its ceiling, offers the command that approves it, and ends with 0', async () => {
    const { status, stdout } = await runHere(['demo', 'dashboard.dashboardUsageStatistics']);
    expect(stdout).toMatch(/^dashboard\.dashboardUsageStatistics +12,000 +7,500 +62\.5 % {2}above-ceiling$/m);
    const [, command = ''] = /^ {2}\.\/retention (demo dash.*)$/m.exec(stdout) ?? [];
    expect(status).toBe(0);
    expect(await runHere(['demo', '--fail-on', 'attention', 'dashboard.dashboardUsageStatistics'])).toMatchObject({
      status: 1,
    });
    const approved = await runHere(command.split(' '));
    expect(approved.stdout).toMatch(/^dashboard\.dashboardUsageStatistics: truncated, 7,500 of 12,000 rows deleted /m);
    expect(approved.stdout).toMatch(
      /^Times are by the run's clock, which skips waits: on this machine it took \d+ s\.$/m,
    );
  });

  test('above a ceiling ends with 1, and with 0 under --fail-on failed', async () => {
    const { run } = await serviceHere();
    const low = [{ ...operation, maxDeletePercent: 20 }];
    expect((await runHere(run('enforce', low))).status).toBe(1);
    expect((await runHere(run('enforce', low, '--fail-on', 'failed'))).status).toBe(0);
    // No schedule approves rows: its message names a person, and is posted in any case.
    const { stdout } = await runHere([...run('enforce', low), 'dataset.operation', '--approve-rows', '573']);
    expect(stdout).toContain(`, by ${userInfo().username}@${hostname()}, `);
  });

  test('warns of a doubtful name before the first request, and explains a failed one', async () => {
    const { run } = await serviceHere();
    const { status, stdout } = await runHere(run('preview', [{ ...operation, aspect: 'operations' }]));
    expect(status).toBe(1);
    expect(stdout.match(/dataset\.operations is not one of DataHub's own indices/g)).toHaveLength(1);
    expect(stdout.indexOf("not one of DataHub's own indices")).toBeLessThan(stdout.indexOf('Subject: '));
  });

  test('at a loopback address wants a ledger, unless the server says that its data is a sample', async () => {
    const { url, engine, sent, files } = await serviceHere();
    const real = await inFront(url, undefined, false);
    const args = ['enforce', '--yes', '--gms-url', real, '--token-file', files.at('token')];
    const policies = ['--policies', files.write('p.json', [operation])];
    const { status, stderr } = await runHere([...args, ...policies]);
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^enforce at a loopback address needs --ledger FOLDER/),
    ]);
    const fast = await runHere([...args, ...policies, '--fast']);
    expect([fast.status, fast.stderr]).toEqual([2, expect.stringMatching(/^--fast is for sample data only/)]);
    expect(engine.asked.length).toBeGreaterThan(0);
    expect(sent()).toEqual([]);
    // So that the approval that a preview prints can be pasted.
    const state = files.at('state');
    const blocked = files.write('p.json', [{ ...operation, minDeletePercent: 1, maxDeletePercent: 2 }]);
    const preview = ['preview', '--gms-url', real, '--token-file', files.at('token'), '--policies', blocked];
    const { stdout } = await runHere(preview, { env: { XDG_STATE_HOME: state } });
    expect(stdout).toMatch(
      new RegExp(`enforce dataset\\.operation .*--approve-rows .*--ledger ${state}/datahub-retention/ledger`),
    );
  });
});

test('A post names its run once', async () => {
  const { run, files } = await serviceHere();
  const hook = await startReceiver();
  const { stdout } = await runHere(run('enforce', [operation], '--notify-url-file', files.write('hook', hook.url)));
  const [, runId = ''] = /^Run (local-\S+),/m.exec(stdout) ?? [];
  expect(JSON.stringify(hook.received[0]?.body).split(runId)).toHaveLength(2);
});

test.each([
  [
    'what its task says, too, where the counts do not show it',
    ['refresh-seconds=1000000000'],
    /its task reports 573 rows deleted, but the counts show 0/,
  ],
  [
    'rows of a reindex are left behind, not deleted',
    ['ignores-force-flags'],
    /573 rows left behind in dataset_operationaspect_v1_\d+/,
  ],
])('Screen and status say what a truncation came to: %s', async (_, faults, expected) => {
  const { run, ledger } = await serviceHere({ faults });
  const screen = (await runHere(run('enforce', [operation]))).stdout;
  expect(screen).toMatch(new RegExp(`^  dataset\\.operation: \\w+, ${expected.source}$`, 'm'));
  const { stdout } = await runHere(['status', ...ledger]);
  expect(stdout.replace(/\s+/g, ' ')).toMatch(expected);
  expect(stdout).not.toContain('573 rows deleted;');
});

describe('--log json', () => {
  test('has a run as events from its header to its report, and the outcomes as data', async () => {
    const { run } = await serviceHere();
    const { lines, stdout } = await runHere(run('enforce', [operation], '--log', 'json'));
    const known = ['header', 'note', 'counting', 'planned', 'task', 'started', 'progress', 'verdict', 'report'];
    expect([...new Set(lines.map(({ event }) => event))].filter((event) => !known.includes(event))).toEqual([]);
    expect(lines[0]).toMatchObject({ event: 'header', mode: 'enforce', fast: true, ledger: expect.any(String) });
    const named = (event: string) => lines.filter((line) => line.event === event);
    expect(named('planned')).toMatchObject([{ aspect: 'operation', decision: 'truncate', rowsTotal: 818 }]);
    expect(named('started')).toMatchObject([{ aspect: 'operation', taskId: expect.any(String) }]);
    expect(named('verdict')).toMatchObject([{ outcome: 'truncated', cause: { kind: 'verified' } }]);
    expect(named('report')).toMatchObject([{ report: { result: 'ok' } }]);
    expect(lines.every(({ time }) => !Number.isNaN(Date.parse(String(time))))).toBe(true);
    expect(stdout).toBe('');
  });

  test('has in every line the fields that the page promises', async () => {
    const page = readFileSync(new URL('../../docs/command-line.md', import.meta.url), 'utf8');
    const promised = new Map(
      [...page.matchAll(/^\| ((?:`[a-z-]+`(?:, )?)+) \| (.*?) \|/gm)].flatMap(([, events = '', fields = '']) =>
        [...events.matchAll(/`([a-z-]+)`/g)].map(([, event = '']) => [
          event,
          // Not what is in brackets, and neither an optional field nor one of two.
          [...fields.replace(/\([^)]*\)/g, '').matchAll(/(?<!or )`(\w+)`(?!\?| or)/g)].map(([, name = '']) => name),
        ]),
      ),
    );
    const { run, server } = await serviceHere();
    const { lines: ofRun } = await runHere(run('enforce', [operation], '--log', 'json'));
    const { lines: ofSurvey } = await runHere(['survey', ...server, '--log', 'json']);
    const events = ['header', 'check', 'surveyed', 'hint', 'suggested'];
    expect(ofSurvey.map(({ event }) => event)).toEqual(expect.arrayContaining(events));
    const missing = [...ofRun, ...ofSurvey].flatMap((line) =>
      (promised.get(line.event) ?? ['no such event'])
        .filter((field) => !(field in line))
        .map((field) => [line.event, field]),
    );
    expect(missing).toEqual([]);
  });
});

describe('--notify problems', () => {
  const quiet = async (context: Parameters<typeof runHere>[1]) => {
    const { run, files } = await serviceHere();
    const hook = await startReceiver();
    const notify = ['--notify', 'problems', '--notify-url-file', files.write('hook', hook.url)];
    expect((await runHere(run('enforce', [operation], ...notify), context)).status).toBe(0);
    return hook.received.length;
  };

  test('holds the message of a run back that a timer started and that went well', async () => {
    expect(await quiet({})).toBe(0);
  });

  test('holds nothing back where a person sits at a terminal', async () => {
    expect(await quiet({ hasTerminal: true })).toBe(1);
  });
});

test('A server that hangs is named in one sentence by preview and survey, and nothing is said of what was not asked', async () => {
  const files = folder();
  const url = await answering(() => {});
  const args = ['--gms-url', url, '--token-file', files.write('t', 'the-secret-token'), '--timeout', '1'];
  const run = [...args, '--policies', files.write('p', [operation]), '--ledger', files.at('l')];
  const [preview, survey] = await Promise.all([runHere(['preview', ...run]), runHere(['survey', ...args])]);
  expect([preview.status, survey.status]).toEqual([1, 1]);
  for (const { stdout } of [preview, survey]) expect(stdout).toMatch(/no response came|no answer/);
  expect(survey.stdout).toContain('not checked');
  expect(preview.stdout + survey.stdout).not.toMatch(/the-secret-token|\n {4}at /);
  expect(preview.stdout).not.toContain('Action: none');
});

test('status says what the ledger knows without asking the server, as a table and as JSON', async () => {
  const { run, ledger, files, engine } = await serviceHere();
  const missing = await runHere(['status', ...ledger]);
  expect([missing.status, missing.stderr]).toEqual([2, expect.stringMatching(/^The ledger \S+ does not exist: /)]);
  await runHere(run('enforce', [operation]));
  const before = engine.asked.length;
  const { stdout } = await runHere(['status', ...ledger]);
  expect(stdout).toMatch(/^Server {2}http:\/\/localhost:\d+$/m);
  expect(stdout).toMatch(/^dataset\.operation +idle +truncated on .* UTC: 573 rows/m);
  await runHere(['status', ...ledger, '--json', files.at('s.json')]);
  expect(JSON.parse(readFileSync(files.at('s.json'), 'utf8'))).toMatchObject({
    version: 1,
    indices: [{ name: 'dataset.operation', state: 'idle', lastOutcome: 'truncated', rowsDeleted: 573 }],
  });
  expect(engine.asked.length).toBe(before);
});

test('An enforcing run says that its ledger has no record yet, or no longer has any', async () => {
  const { run, files } = await serviceHere();
  const isSaid = async (verb: string, retentionDays = 60) =>
    (await runHere(run(verb, [{ ...operation, retentionDays }]))).stdout.includes('so this counts as the first run');
  expect([await isSaid('preview'), await isSaid('enforce', 4000)]).toEqual([false, true]);
  // Neither a run before it that found nothing to delete, nor one that did.
  expect([await isSaid('enforce', 4000), await isSaid('enforce'), await isSaid('enforce')]).not.toContain(true);
  for (const name of readdirSync(files.at('ledger')).filter((one) => !one.startsWith('.')))
    rmSync(join(files.at('ledger'), name));
  expect(await isSaid('enforce')).toBe(true);
});

describe('status begins with the last run', () => {
  test('whatever its verb was: when, its result, and the subject of its message', async () => {
    const { run, ledger, files } = await serviceHere();
    await runHere(run('preview', [operation]));
    expect((await runHere(['status', ...ledger])).stdout).toMatch(
      /^Last run {2}\d+ \w+ \d{4}, \d\d:\d\d UTC: preview, ok \(local-\S+, version 0\.0\.0\+test\)\n {2}\[DataHub retention\] PREVIEW /,
    );
    await runHere(run('enforce', [operation]));
    await runHere(['status', ...ledger, '--json', files.at('s.json')]);
    expect(JSON.parse(readFileSync(files.at('s.json'), 'utf8')).lastRun).toMatchObject({
      verb: 'enforce',
      result: 'ok',
      server: expect.stringContaining('localhost'),
    });
  });
});

test('status --runs lists the runs that enforced or released, with who asked for them, and no preview', async () => {
  const { run, server, ledger, files } = await serviceHere();
  // As it is given: nothing in it is markup, or the package of a class.
  const ada = 'a.Byron <a@x.io>';
  expect((await runHere([...run('enforce', [operation]), '--by', ada])).status).toBe(0);
  await runHere([...run('preview', [operation]), '--by', 'bob']);
  await runHere(run('enforce', [operation]));
  await runHere(run('enforce', [operation]), { env: { SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22' } });
  await runHere(['release', 'dataset.operation', ...server, ...ledger, '--by', 'eve']);
  const { stdout } = await runHere(['status', '--runs', ...ledger]);
  const lines = stdout.split('\n').filter((line) => /UTC .+ ok /.test(line));
  expect(lines.map((line) => line.replace(/^.*UTC +/, '').replaceAll(/ +/g, ' '))).toEqual([
    'eve ok nothing to do',
    expect.stringMatching(/^\S+@\S+ ok /),
    expect.stringMatching(/^schedule ok /),
    expect.stringMatching(/^a\.Byron <a@x\.io> ok dataset\.operation truncated/),
  ]);
  await runHere(['status', ...ledger, '--json', files.at('s.json')]);
  expect(JSON.parse(readFileSync(files.at('s.json'), 'utf8'))).toMatchObject({
    indices: [{ by: ada }],
    runs: [
      { by: 'eve' },
      {},
      { by: 'schedule' },
      { by: ada, indices: [{ name: 'dataset.operation', rowsDeleted: 573 }] },
    ],
  });
  for (const name of readdirSync(files.at('ledger')).filter((one) => !one.startsWith('.')))
    rmSync(join(files.at('ledger'), name), { recursive: true });
  expect((await runHere(['status', ...ledger])).stdout).toContain('It has no record, although its last runs');
  // What a full disk has cut short is not "No run is known".
  writeFileSync(join(files.at('ledger'), '.runs.json'), '{"runs":[{"runI');
  expect((await runHere(['status', '--runs', ...ledger])).status).toBe(2);
  expect((await runHere(['status', ...ledger])).stdout).toContain('damaged');
});

test('release says that an index is not quarantined, and for an unknown index names those that are known', async () => {
  const { run, server, ledger, sent } = await serviceHere();
  await runHere(run('enforce', [operation]));
  const idle = await runHere(['release', 'dataset.operation', ...server, ...ledger]);
  // There is no terminal here, and still no schedule releases anything.
  expect(idle.stdout).toContain(`, by ${userInfo().username}@${hostname()}, `);
  expect([idle.status, idle.stdout]).toEqual([0, expect.stringContaining('nothing to release in dataset.operation')]);
  const unknown = await runHere(['release', 'chart.x', ...server, ...ledger]);
  expect([unknown.status, unknown.stderr]).toEqual([
    2,
    expect.stringMatching(/^release chart\.x: .* dataset\.operation\.$/),
  ]);
  expect(sent()).toHaveLength(1);
});

test('A damaged record is released by the command of the message, with nothing but its file name to go by', async () => {
  const { run, server, ledger, files, sent } = await serviceHere();
  await runHere(run('enforce', [operation]));
  const damaged = readdirSync(files.at('ledger')).sort().at(-1) ?? '';
  writeFileSync(join(files.at('ledger'), damaged), '{"sta');
  const chart = { ...operation, entityType: 'chart', aspect: 'chartUsageStatistics' };
  const { stdout } = await runHere(run('enforce', [chart]));
  expect(stdout).toMatch(/^dataset\.operation: unknown, its ledger record cannot be read/m);
  const command = stdout.replaceAll(/\n +(?=--)/g, ' ').match(/\.\/retention release (\S+) /)?.[1];
  expect(command).toBe('dataset.operation');
  const refused = await runHere(['release', 'dataset.operation', ...server, ...ledger]);
  expect([refused.status, refused.stdout]).toEqual([1, expect.stringContaining('NOT RELEASED: dataset.operation')]);
  const released = await runHere(['release', 'dataset.operation', ...server, ...ledger, '--accept-missing', '0']);
  expect(released.stdout).toContain('Released: dataset.operation.');
  const trail = (await runHere(['status', '--runs', ...ledger])).stdout.replaceAll(/\s+/g, ' ');
  expect(trail).toContain('dataset.operation released, without proof that no row is missing');
  // A release truncates nothing.
  expect(sent()).toHaveLength(2);
});

test('A release that is refused ends with 1, and one that is granted with 0, whatever it accepts', async () => {
  const { run, server, ledger } = await serviceHere({ profile: '1.2-1.5', faults: ['refuses-force-flags'] });
  await runHere(run('enforce', [operation]));
  const release = ['release', 'dataset.operation', ...server, ...ledger];
  const refused = await runHere(release);
  expect([refused.status, refused.stdout]).toEqual([1, expect.stringContaining('NOT RELEASED: dataset.operation')]);
  const accepted = await runHere([...release, '--accept-missing', '100000']);
  expect([accepted.status, accepted.stdout]).toEqual([0, expect.stringContaining('Released: dataset.operation.')]);
  // The message says it, and no note beside it.
  expect(accepted.stdout).not.toContain('Note:');
});

describe('runbook', () => {
  test('prints a section, or the names of all, also where there is no such section', async () => {
    const { stdout } = await runHere(['runbook']);
    expect(stdout).toMatch(/^ {2}rows-missing$/m);
    expect((await runHere(['runbook', 'rows-missing'])).stdout).toMatch(/^#+ Rows missing$/m);
    expect(await runHere(['runbook', 'nothing-at-all'])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^ {2}rows-missing$/m),
    });
    expect((await runHere(['runbook', 'rows-mising'])).stderr).toBe(
      'The runbook has no such section; did you mean ./retention runbook rows-missing?',
    );
  });

  test.each([
    [
      'in a pod: of its CronJob',
      [],
      { DATAHUB_RETENTION_CRON_JOB: 'dh-retention', DATAHUB_RETENTION_NAMESPACE: 'jobs' },
      [
        /^kubectl -n jobs create job .*dh-retention-manual.*DATAHUB_RETENTION_ARGS=preview /m,
        /^kubectl -n jobs patch /m,
      ],
    ],
    [
      'on a machine: with its options, and the timer that its unit names',
      ['--gms-url', 'http://gms:8080', '--ledger', 'kubernetes:'],
      { DATAHUB_RETENTION_TIMER: 'retention@a.timer' },
      [
        /^\.\/retention preview --policies FILE --gms-url http:\/\/gms:8080 --ledger kubernetes:$/m,
        /^sudo systemctl disable --now retention@a\.timer$/m,
      ],
    ],
    [
      'and elsewhere has those of every platform',
      [],
      {},
      [/^aws stepfunctions .* ARN /m, /^aws ssm .* PREFIX/m, /^kubectl /m, /^sudo /m],
    ],
  ])('has commands to paste %s', async (_, options, env, commands) => {
    const { stdout } = await runHere(['runbook', 'by-hand', ...options], { env });
    const block = stdout.split('\n').filter((line) => /^(?:aws|kubectl|\.\/retention|sudo) /.test(line));
    expect(block).toHaveLength(commands.length);
    for (const command of commands) expect(stdout).toMatch(command);
  });

  test.each([
    ['an address with a password', '--gms-url', 'https://me:a-password-of-mine@datahub.example.com'],
    [
      'a token in the place of its file',
      '--token-file',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhLXVzZXIifQ.c2lnbmVkLWJ5LW5vYm9keQ',
    ],
    ['the address of a webhook', '--notify-url-file', 'https://hooks.slack.com/services/T0/B0/a-password-of-mine'],
    ['a header', '--header-file', 'X-Key: a-password-of-mine'],
  ])('repeats no secret in a command, as no message does: %s', async (_, option, secret) => {
    const files = folder();
    const rest = ['--policies', files.at('p.json'), '--ledger', files.at('l'), '--json', files.at('report')];
    const message = await runHere(['preview', ...rest, option, secret]);
    expect([message.status, message.stdout]).toEqual([2, expect.stringMatching(`${option} (?:FILE|URL)\\b`)]);
    const page = await runHere(['runbook', 'by-hand', '--ledger', '/a', option, secret]);
    const shown = [message, page].flatMap(({ stdout, stderr }) => [stdout, stderr]).concat(files.texts());
    for (const text of [secret, 'a-password-of-mine']) expect(shown.join()).not.toContain(text);
  });
});
