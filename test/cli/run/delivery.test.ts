import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { rawServer } from '../../lambda/gms/http/raw-server.ts';
import { programs } from '../../programs.ts';
import { at, inFront, operation, runHere, serviceHere } from '../here.ts';
import { startReceiver } from '../outputs/receiver.ts';

/**
 * What a run has decided is reported, or stays unreported: texts that break a report, disks that fill up in the middle of
 * one, receivers that end badly. Found by a reviewer who tried to make runs fall silent.
 */

const empty = {
  status: 200,
  body: '{"value":"Delete 0 out of 0 rows (NaN%). Issuing a delete by query request. This was a dry run."}',
};

describe('A loss is reported', () => {
  test("although the policy's note looks like a stack trace", async () => {
    const { run, url, states } = await serviceHere();
    let isSent = false;
    const address = await inFront(url, ({ dryRun }) => {
      isSent ||= dryRun === false;
      return isSent && dryRun ? empty : undefined;
    });
    const policy = { ...operation, note: 'Legal: keep 60 days,\nat least.' };
    const { stdout, status } = await runHere(at(address, run('enforce', [policy])));
    expect([status, stdout]).toEqual([1, expect.stringContaining('ROWS MISSING in dataset.operation')]);
    expect(await states()).toEqual(['quarantined']);
  });

  test('although another index answers with what looks like one without its markup', async () => {
    const { run, url, states } = await serviceHere();
    const body = 'Internal error<br>at com.acme.gateway.Filter.run(Filter.java:12)';
    const address = await inFront(url, ({ aspect }) =>
      aspect === 'datasetProfile' ? { status: 400, type: 'text/plain', body } : undefined,
    );
    const policies = [operation, { entityType: 'dataset', aspect: 'datasetProfile', retentionDays: 60 }];
    const { stdout } = await runHere(at(address, run('enforce', policies)));
    expect(stdout).toMatch(/dataset\.operation: truncated, 573 of 818 rows deleted/);
    expect(stdout).not.toContain('com.acme');
    expect(await states()).toEqual(['idle']);
  });
});

test.each(['still-running', 'dataset.operation', 'dataset_operationaspect_v1'])(
  'A token that is the word "%s" changes no outcome, and keeps no verdict from being reported',
  async (token) => {
    const { run, files, ledger } = await serviceHere({ token });
    await runHere(run('enforce', [operation], '--json', files.at('report.json')));
    const names = { entityType: 'dataset', aspect: 'operation' };
    expect(files.report('report.json').policies[0]).toMatchObject({ outcome: 'truncated', ...names });
    const { stdout } = await runHere(['status', ...ledger]);
    expect(stdout).toMatch(/ idle +truncated on /);
  },
);

test('A disk that takes a part of the report has not taken it: the next run reports it', async () => {
  const { run, files, states } = await serviceHere({ faults: ['ignores-force-flags'] });
  const out = files.write('out', 'x'.repeat(8192 - 1300));
  const args = [process.execPath, programs.start, ...run('enforce', [operation])];
  const child = spawn('bash', ['-c', `ulimit -f 8; exec "$0" "$@" >> '${out}'`, ...args], {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(1);
  expect(readFileSync(out, 'utf8')).toContain('Subject: ');
  expect(await states()).toEqual(['unreported']);
});

test('A receiver that says 200 has the message, whatever becomes of the rest of its answer', async () => {
  const { run, files, states } = await serviceHere();
  const cut = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok';
  const receiver = await rawServer({ onRequest: (socket) => socket.end(cut) });
  const hook = files.write('hook', `${receiver.url}/hook/of-the-team`);
  const { status } = await runHere(run('enforce', [operation], '--notify-url-file', hook));
  expect([status, receiver.requests.length, await states()]).toEqual([0, 1, ['idle']]);
});

test('A release that was not posted is named among what waits for that', async () => {
  const { run, files, server, ledger, states } = await serviceHere({
    profile: '1.2-1.5',
    faults: ['refuses-force-flags'],
  });
  await runHere(run('enforce', [operation]));
  const refusing = await startReceiver();
  refusing.answers.push({ status: 403 });
  const release = ['release', 'dataset.operation', ...server, ...ledger, '--accept-missing', '100000'];
  const { stdout } = await runHere([...release, '--notify-url-file', files.write('hook', refusing.url)]);
  expect(stdout.replace(/\s+/g, ' ')).toMatch(
    /Until a message is posted, nothing more is deleted in dataset\.operation \(released on .* UTC\)\./,
  );
  expect(await states()).toEqual(['unreported']);
});
