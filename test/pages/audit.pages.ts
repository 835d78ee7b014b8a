import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { skipped } from '../support/skips.ts';
import { root } from './commands.ts';

const hasJq = spawnSync('jq', ['--version']).status === 0;
if (!hasJq) skipped('The list of docs/audit.md was not tried: jq is not found.');

test.skipIf(!hasJq)('docs/audit.md: its list of a quarter has each deletion and each release once', () => {
  const script =
    /```sh\n(jq -rs '[\s\S]+?) runs\/\*\.json\n/.exec(readFileSync(`${root}/docs/audit.md`, 'utf8'))?.[1] ?? '';
  const run = (day: number, indices: object[], released: object[] = []) => {
    return { runId: `r${day % 4}`, finishedAt: `2026-11-0${day}`, by: 'ada', indices, released };
  };
  const sent = { name: 'a.b', outcome: 'unknown', cutoffMillis: 5 };
  const deleted = { ...sent, outcome: 'truncated', rowsDeleted: 7, decidedAt: '3' };
  const runs = [
    // A row limit may find the same cutoff again, and an execution may have the name of an old one.
    run(5, [{ ...deleted, decidedAt: '5' }]),
    run(4, [deleted], [{ name: 'c.d', run: 'r2' }]),
    run(3, [deleted]),
    run(2, [sent, { ...sent, outcome: 'still-running', cutoffMillis: 6 }], [{ name: 'c.d' }]),
    { ...run(1, [{ ...deleted, decidedAt: '0' }]), finishedAt: '2026-09-30' },
    // Its record has lost what was sent.
    run(1, [
      { ...sent, cutoffMillis: 4 },
      { ...deleted, cutoffMillis: undefined, decidedAt: '1' },
    ]),
  ];
  const listed = execFileSync('sh', ['-c', script], { input: JSON.stringify({ runs }), encoding: 'utf8' });
  expect(listed.match(/2026-11-0\d|unknown|truncated|released/g)?.join(' ')).toBe(
    '2026-11-01 truncated 2026-11-01 unknown 2026-11-03 truncated 2026-11-05 truncated 2026-11-02 released',
  );
});
