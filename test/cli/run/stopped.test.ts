import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import { unresolvedLines } from '../../../cli/run/interrupt.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import { startWatch } from '../../../lambda/truncation/watch.ts';
import { aRunning } from '../../support/records.ts';
import { answering, operation, runHere, serviceHere } from '../here.ts';
import { run as runProcess, start } from '../processes.ts';

/** What needs a process: signals, streams, and how it ends. Signals through npm are tried where people start it. */

const slow = {
  indices: [
    { entityType: 'dataset', aspect: 'operation', rows: 2500, days: 100 },
    // The larger one comes second.
    { entityType: 'chart', aspect: 'operation', rows: 2600, days: 100 },
  ],
  faults: ['rows-per-second=1500'],
};
const policies = [
  { ...operation, retentionDays: 30, batchSize: 100 },
  { ...operation, entityType: 'chart', retentionDays: 30, batchSize: 100 },
];

describe('A run that is stopped by', () => {
  test.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s sends nothing more, and the next one watches what it has begun', async ([signal, status]) => {
    // The server's time stands still in the middle of the delete, until the signal has done its work.
    let standsStillAt = Number.POSITIVE_INFINITY;
    const clock = { now: () => Math.min(Date.now(), standsStillAt) };
    const { run, sent, files, engine } = await serviceHere({ ...slow, clock });
    engine.onRequest = () => {
      if (sent().length > 0) standsStillAt = Math.min(standsStillAt, Date.now() + 300);
      return undefined;
    };
    const args = run('enforce', policies);
    const first = start(args);
    await first.printed(/: [1-9][\d,]* of [\d,]+ old rows deleted/);
    first.process.kill(signal);
    const ended = await first.ended;
    engine.onRequest = undefined;
    standsStillAt = Number.POSITIVE_INFINITY;
    expect([ended.status, sent()]).toEqual([status, [expect.anything()]]);
    expect(ended.stderr).toMatch(
      /^Stopped. Not verified yet; what still runs on the server goes on without this program:\n/,
    );
    expect(ended.stderr).toMatch(
      /dataset\.operation: task \S+, [\d,]+ of [\d,]+ old rows deleted when last seen, \d+ \w+ \d+/,
    );
    const second = await runHere([...args, '--json', files.at('report.json')]);
    expect(second.status).toBe(0);
    expect(files.report('report.json').policies).toMatchObject([
      { entityType: 'dataset', outcome: 'truncated', resumed: true },
      { entityType: 'chart', outcome: 'truncated' },
    ]);
    expect(sent()).toHaveLength(2);
  });

  test('a run whose reader has gone continues, and ends with 1 because nobody has read its verdict', async () => {
    const { run, sent, files } = await serviceHere();
    const started = start(run('enforce', [operation], '--json', files.at('report.json')));
    started.process.stdout!.destroy();
    expect(await started.ended).toMatchObject({ status: 1, stderr: '' });
    expect(files.report('report.json').result).toBe('ok');
    expect(sent()).toHaveLength(1);
  });

  test('a run whose reader has gone says so on standard error and in status, where its report went nowhere else', async () => {
    const { run, ledger } = await serviceHere();
    const started = start(run('enforce', [operation]));
    started.process.stdout!.destroy();
    expect(await started.ended).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /^Standard output was closed, so nobody has read .*: \[DataHub retention\] .*1 truncated/,
      ),
    });
    const status = async () => (await runHere(['status', ...ledger])).stdout;
    expect(await status()).toContain('Its report was not read');
    await runHere(run('enforce', [operation]));
    expect(await status()).not.toContain('Its report was not read');
  });

  test('a reader that has gone, before anything was decided, ends as it would have', async () => {
    const { run } = await serviceHere();
    const started = start(run('preview', [operation]));
    started.process.stdout!.destroy();
    expect(await started.ended).toMatchObject({ status: 0, stderr: '' });
  });
});

test.each([
  [{ completed: false, done: 10, total: 60, runs: true }, false],
  [{ completed: true, done: 60, total: 60, runs: false }, true],
])('After a stop, a task that has ended is shown as ended: %o', async (task, hasEnded) => {
  const ledger = memoryLedger();
  const record = aRunning();
  ledger.stored.set(record.index, record);
  const watch = { ...startWatch(record, 0, 0), task, observedAt: 0 };
  const names = { entityType: 'dataset', aspect: 'operation' };
  const last = { entries: [{ index: record.index, phase: 'watched', names, record, watch }] } as unknown as RunState;
  const [, line] = await unresolvedLines(ledger, last, record.server);
  expect(line).toMatch(
    hasEnded ? /task node:1, .*, and had ended\.$/ : /task node:1, [^,]+ when last seen, [^,]+, [^,]+\.$/,
  );
});

test('What is under way on another server is nothing that the next run picks up', async () => {
  const ledger = memoryLedger();
  const record = aRunning({ server: 'https://another.example' });
  ledger.stored.set(record.index, record);
  expect(await unresolvedLines(ledger, undefined, 'https://this.example')).toEqual([
    'Stopped. Nothing was under way on the server.',
  ]);
});

test('A run that is stopped while its call is under way keeps the task id that the answer brings', async () => {
  const { run, engine } = await serviceHere(slow);
  const started = start(run('enforce', policies));
  engine.onRequest = ({ body }) => {
    if (!body.includes('"dryRun":false')) return undefined;
    engine.onRequest = undefined;
    engine.set({ delayMillis: 500 });
    started.process.kill('SIGTERM');
    return undefined;
  };
  expect(await started.ended).toMatchObject({
    status: 143,
    stderr: expect.stringMatching(/^Stopped\. Not verified yet; .*\n {2}dataset\.operation: task \S+,/),
  });
});

test('A survey that is stopped says so, and that it has changed nothing', async () => {
  const url = await answering(() => {});
  const survey = start(['survey', '--gms-url', url], { DATAHUB_GMS_TOKEN: 'any-token-at-all' });
  await survey.printed(/^Mode {4}survey/m);
  survey.process.kill('SIGINT');
  const stderr = 'Stopped. A survey only reads: nothing was changed.\n';
  expect(await survey.ended).toMatchObject({ status: 130, stderr });
});

describe('The program', () => {
  test('ends with status 2 and one line on standard error for a mistake, and asks no server', async () => {
    const { url, engine } = await serviceHere();
    const { status, stdout, stderr } = await runProcess(['enforce', '--gms-url', url, '--polices', 'p.json']);
    expect([status, stdout, stderr.trim().split('\n').length, engine.asked]).toEqual([2, '', 1, []]);
  });

  test('keeps standard output for the report with --json -', async () => {
    const { run, token } = await serviceHere();
    const { status, stdout, stderr } = await runProcess(run('preview', [operation], '--json', '-'));
    expect([status, JSON.parse(stdout).result]).toEqual([0, 'ok']);
    expect(stderr).toMatch(/^Server /);
    expect(stdout + stderr).not.toContain(token);
  });
});
