import { mkdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { textOf } from '../../support/loopback.ts';
import { answering, operation, runHere, serviceHere } from '../here.ts';

test.each([
  ['volume is away', 'away/ledger', 'its parent folder, or the target of its link, does not exist'],
  ['folder is a file', 'token', 'it is a file, and a ledger is a folder'],
  ['folder is one of something else', 'photos', 'is not a ledger: it has other files (holiday.jpg) and no record'],
])('A run with a ledger whose %s counts nothing, reports why, posts that and writes its metrics', async (...row) => {
  const [, ledger, why] = row;
  const { files, server, engine } = await serviceHere();
  mkdirSync(files.at('photos'));
  files.write('photos/holiday.jpg', '');
  const posted: string[] = [];
  const webhook = await answering(async (asked, answer) => {
    posted.push(await textOf(asked));
    answer.end('ok');
  });
  const hook = ['--notify-url-file', files.write('hook', webhook)];
  const outputs = ['--json', files.at('report.json'), '--metrics-file', files.at('metrics.prom'), ...hook];
  const policies = ['--policies', files.write('policies.json', [operation])];
  const args = ['enforce', ...server, '--ledger', files.at(ledger), '--fast', ...policies, ...outputs, '--yes'];
  const { status, stdout } = await runHere(args);
  const { result, error } = files.report('report.json');
  expect([status, result]).toEqual([1, 'failed']);
  for (const text of [stdout, error, posted.join()]) expect(text).toContain(why);
  expect(readFileSync(files.at('metrics.prom'), 'utf8')).toMatch(/failed/);
  expect(engine.asked.filter(({ path }) => path.includes('truncateTimeseriesAspect'))).toEqual([]);
});
