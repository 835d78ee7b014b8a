import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { programs } from '../../programs.ts';
import type { ServiceOptions } from '../../simulated-gms/server.ts';
import { writtenBy } from '../../support/written.ts';
import { operation, runHere, serviceHere } from '../here.ts';

const due = [operation, { entityType: 'dataset', aspect: 'datasetUsageStatistics', retentionDays: 90 }];

const atTerminal = (args: readonly string[]) => args.filter((word) => word !== '--yes');

describe('enforce at a terminal', () => {
  /** A run whose person answers, and the questions that were asked. */
  const answering = async (answer: boolean, verb = 'enforce', more: string[] = [], options: ServiceOptions = {}) => {
    const service = await serviceHere(options);
    const asked: string[] = [];
    const ask = async (question: string) => {
      asked.push(question);
      expect(service.sent()).toEqual([]);
      return answer;
    };
    return { ...(await runHere([...atTerminal(service.run(verb, due)), ...more], { ask })), service, asked };
  };

  test('asks once, after its plan and before the first truncate, with the rows and the indices', async () => {
    const { status, asked, service } = await answering(true);
    const { host } = new URL(service.url);
    expect(asked).toEqual([
      `The largest: dataset.datasetUsageStatistics, 1,507 rows.\nDelete 2,080 rows of 2 indices of ${host} for good? [y/N] `,
    ]);
    expect([status, service.sent().length]).toEqual([0, 2]);
  });

  test('says above the question which indices would be reindexed', async () => {
    const { asked, service } = await answering(false, 'enforce', [], { faults: ['ignores-force-flags'] });
    expect(asked).toEqual([
      expect.stringMatching(
        /^A reindex cannot be cancelled, .*: dataset\.\w+, dataset\.operation \("refuseR.*\)\.\nThe largest: .*\nDelete /,
      ),
    ]);
    expect(service.sent()).toEqual([]);
  });

  test('sends nothing after a no, leaves no record, says so, and ends with 1', async () => {
    const { status, stdout, service } = await answering(false);
    expect([status, service.sent()]).toEqual([1, []]);
    expect(stdout).toMatch(/^dataset\.operation .*truncate$/m);
    expect(stdout).toMatch(/^You said no: nothing was sent\.\nStopped\. Nothing was under way on the server\.$/m);
    const { stdout: records } = await runHere(['status', ...service.ledger]);
    expect(records).toContain('It has no record');
  });

  test('does not ask with --yes, in a preview, or where nothing is due', async () => {
    expect((await answering(false, 'enforce', ['--yes'])).asked).toEqual([]);
    expect((await answering(false, 'preview')).asked).toEqual([]);
    const service = await serviceHere();
    const ask = async () => expect.fail('nothing is due');
    const { status } = await runHere(atTerminal(service.run('enforce', [{ ...operation, retentionDays: 4000 }])), {
      ask,
    });
    expect(status).toBe(0);
  });
});

/** Only Python's standard library can open a terminal here. */
const hasPython = spawnSync('python3', ['--version']).status === 0;

describe.skipIf(!hasPython)('a terminal of its own', () => {
  const terminal = fileURLToPath(new URL('terminal.py', import.meta.url));

  /** @returns its status, and what the terminal has shown */
  const typing = async (typed: string, command: readonly string[]) => {
    const child = spawn('python3', [terminal, typed, ...command], { stdio: 'pipe' });
    onTestFinished(() => void child.kill());
    return writtenBy(child).ended;
  };

  test.each([
    ['y\n', 0, 1],
    ['\n', 1, 0],
    ['\u0004', 1, 0],
    ['\u0003', 130, 0],
    // Typed before it asks, and Enter alone once it does.
    ['y\n\f\n', 1, 0],
    ['y\f\n', 1, 0],
    ['\u0004\f\n', 1, 0],
    ['\u0004\fy\n', 0, 1],
  ])('%j there ends with %i', { timeout: 20_000 }, async (typed, status, sent) => {
    const service = await serviceHere();
    const args = atTerminal(service.run('enforce', [operation]));
    const { status: ended, stdout: shown } = await typing(typed, [process.execPath, programs.start, ...args]);
    expect(shown).toMatch(/Delete 573 rows of dataset\.operation of \S+ for good\? \[y\/N\] /);
    expect([ended, service.sent().length]).toEqual([status, sent]);
  });

  test('does not wait for an answer if nobody sees the question', { timeout: 20_000 }, async () => {
    const service = await serviceHere();
    const log = service.files.at('log');
    const command = ['sh', '-c', 'exec "$@" > "$0" 2>&1', log, process.execPath, programs.start];
    expect((await typing('', [...command, ...atTerminal(service.run('enforce', [operation]))])).status).toBe(2);
    expect(readFileSync(log, 'utf8')).toMatch(
      /^enforce asks before it deletes rows for good, and there is no terminal/,
    );
    expect(service.sent()).toEqual([]);
  });
});
