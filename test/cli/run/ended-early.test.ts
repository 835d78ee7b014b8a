import { describe, expect, test } from 'vitest';
import { folderLedger } from '../../../cli/ledgers/folder-ledger.ts';
import { programs } from '../../programs.ts';
import { aQuarantined } from '../../support/records.ts';
import type { Ended } from '../../support/written.ts';
import { operation, runHere, serviceHere } from '../here.ts';
import { startReceiver } from '../outputs/receiver.ts';
import { start } from '../processes.ts';

/**
 * A run that ends anywhere between its truncation and its message, and the nights after it. The server reindexes, so people
 * have to hear of it even where all went well: the old index still takes its space.
 */

async function stage() {
  const service = await serviceHere({
    indices: [{ entityType: 'dataset', aspect: 'operation', rows: 400, days: 100 }],
    faults: ['ignores-force-flags'],
  });
  const { files, run, sent } = service;
  const hook = await startReceiver();
  const posting = ['--notify-url-file', files.write('hook', hook.url), '--json', files.at('report.json'), '--force'];
  const args = run('enforce', [{ ...operation, retentionDays: 30 }], ...posting);
  return {
    hook,
    sent,
    report: () => files.report('report.json'),
    quarantined: () => {
      const ledger = folderLedger(files.at('ledger'));
      ledger.prepare();
      return ledger.replace(aQuarantined({ server: service.url, unreported: false }));
    },
    /** Messages that say what the reindex has left behind. */
    messages: () => hook.received.filter(({ body }) => /left behind in/.test(JSON.stringify(body))).length,
    first: (atWrite: string): Promise<Ended> =>
      start(args, { AT_WRITE: atWrite }, 'pipe', programs['ended-at-write']).ended,
    args,
    /** @returns the entry of its report */
    async night(given: readonly string[] = args) {
      await runHere(given);
      const { policies, runId } = files.report('report.json');
      const [{ outcome, resumed = false, decidedBy = runId } = {}] = policies;
      return { outcome, resumed, isOwn: decidedBy === runId };
    },
  };
}

const own = { outcome: 'truncated', resumed: false, isOwn: true };
const held = { outcome: 'still-running', resumed: true, isOwn: true };
const resumed = { outcome: 'truncated', resumed: true, isOwn: true };
const decidedBefore = { outcome: 'truncated', resumed: true, isOwn: false };
const nothing = { outcome: 'nothing-to-delete', resumed: false, isOwn: true };

test.each([
  ['when it has written that it sends blocks its index until that can be judged', 'after 1', held, 0],
  ['when it has sent blocks its index until that can be judged', 'before 2', held, 1],
  ['when it has written the task is judged by the next night', 'after 2', resumed, 1],
  ['when it has written what the status has counted is judged by the next night', 'after 3', resumed, 1],
  ['when it has written its verdict is reported by the next night', 'after 4', decidedBefore, 1],
  ['when it has posted its message is reported once more', 'before 5', decidedBefore, 1],
  ['when it has marked that as reported is not reported again', 'after 5', nothing, 1],
] as const)('A run that is killed %s', async (_, atWrite, next, calls) => {
  const { first, night, hook, sent, messages } = await stage();
  expect((await first(`${atWrite} SIGKILL`)).status).toBe(null);
  const before = messages();
  expect([before, sent().length]).toEqual([atWrite.endsWith('5') ? 1 : 0, calls]);
  expect(await night()).toEqual(next);
  expect(messages()).toBe(before + (next.outcome === 'truncated' ? 1 : 0));
  // Its own night may say "1 truncated"; what another run has decided is named.
  const names = /Run local-\S+ found this on/.test(JSON.stringify(hook.received.at(-1)));
  expect(names).toBe(next === decidedBefore);
  expect(await night()).toEqual(next === held ? held : nothing);
  expect(messages()).toBe(before + (next.outcome === 'truncated' ? 1 : 0));
  // The next night sends what was never sent, and nothing a second time.
  expect(sent()).toHaveLength(next === held ? calls : 1);
});

describe('A verdict is reported by the next night, and by no later one, after', () => {
  test('SIGTERM, which prints it', async () => {
    const { first, night, sent } = await stage();
    const { status, stderr } = await first('after 4 SIGTERM');
    expect(status).toBe(143);
    expect(stderr).toMatch(/dataset\.operation: truncated/);
    expect([await night(), await night(), sent().length]).toEqual([decidedBefore, nothing, 1]);
  });

  test('a chat that answers 500', async () => {
    const { args, night, hook, sent } = await stage();
    hook.answers.push({ status: 500 }, { status: 500 }, { status: 500 });
    const { status, stdout } = await runHere(args);
    expect(status).toBe(1);
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /Until a message is posted, nothing more is deleted in dataset\.operation \(decided on .* UTC\)\./,
    );
    expect([await night(), await night(), sent().length]).toEqual([decidedBefore, nothing, 1]);
  });

  test('a reader of its output that has gone, although its message was posted', async () => {
    const { args, night, sent, messages } = await stage();
    const gone = start(args);
    gone.process.stdout!.destroy();
    expect(await gone.ended).toMatchObject({ status: 0, stderr: '' });
    expect([messages(), await night(), messages(), await night()]).toEqual([1, decidedBefore, 2, nothing]);
    expect(sent()).toHaveLength(1);
  });

  test('a disk that is full when it is to be marked', async () => {
    const { first, night, sent, messages } = await stage();
    expect((await first('from 5 ENOSPC')).status).toBe(0);
    expect([messages(), await night(), messages(), await night()]).toEqual([1, decidedBefore, 2, nothing]);
    expect(sent()).toHaveLength(1);
  });
});

describe('What is unreported is reported by a preview, too, and', () => {
  const previewOf = (args: readonly string[]) => ['preview', ...args.slice(1).filter((word) => word !== '--yes')];

  test('by no later run, if it was posted and not on a screen alone', async () => {
    const { args, first, night } = await stage();
    await first('after 4 SIGKILL');
    const silent = previewOf(args.toSpliced(args.indexOf('--notify-url-file'), 2));
    expect([await night(silent), await night(previewOf(args)), await night()]).toEqual([
      decidedBefore,
      decidedBefore,
      nothing,
    ]);
  });
});

describe('A disk that is full from', () => {
  test.each([
    ['the first write on, so that nothing is sent', 1, own, 0],
    ['the task on', 2, held, 1],
    ['what its status has counted on', 3, resumed, 1],
    ['the verdict on', 4, resumed, 1],
  ] as const)('%s, is named', async (_, write, next, calls) => {
    const { first, report, night, sent } = await stage();
    const { status, stdout } = await first(`from ${write} ENOSPC`);
    expect([status, sent().length]).toEqual([1, calls]);
    expect(stdout).toContain('the disk is full');
    if (calls === 0) {
      // That is the reason, and not that something may have been sent.
      const problem = expect.stringContaining('the disk is full');
      const cause = { kind: 'setup', what: 'ledger', problem };
      expect(report().policies).toMatchObject([{ outcome: 'failed', cause }]);
    }
    expect(await night()).toEqual(next);
  });

  test('the task on, is what the message says of the function that failed', async () => {
    const { first, report } = await stage();
    await first('from 2 ENOSPC');
    const error = expect.stringMatching(/^LedgerError: The ledger \S+ cannot be written: the disk is full; /);
    expect(report().cause).toMatchObject({ kind: 'step-failed', step: 'poll', error });
    expect(report().notes).toContainEqual(expect.objectContaining({ kind: 'truncate-failed', error }));
  });

  test('the start on, hides nothing that the ledger says is quarantined', async () => {
    const { first, report, quarantined, sent } = await stage();
    await quarantined();
    expect((await first('from 0 ENOSPC')).status).toBe(1);
    const problem = expect.stringContaining('the disk is full');
    expect(report()).toMatchObject({
      cause: { kind: 'setup', what: 'ledger', problem },
      policies: [{ outcome: 'quarantined' }],
    });
    expect(sent()).toEqual([]);
  });
});
