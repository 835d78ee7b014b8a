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
  const run = (day: number, indices: object[], released: object[]) => {
    return { runId: `r${day}`, finishedAt: `2026-11-0${day}`, by: 'ada', indices, released };
  };
  const deleted = { name: 'a.b', outcome: 'truncated', rowsDeleted: 7 };
  const sent = { ...deleted, outcome: 'still-running', cutoffMillis: 5 };
  const runs = [
    run(3, [{ ...sent, outcome: 'truncated', run: 'r2' }], [{ name: 'c.d', run: 'r2' }]),
    run(2, [sent], [{ name: 'c.d' }]),
    // As runs were kept before they had a cutoff.
    run(1, [deleted], []),
  ];
  const listed = execFileSync('sh', ['-c', script], { input: JSON.stringify({ runs }), encoding: 'utf8' });
  expect(listed.match(/2026-11-0\d|truncated|released/g)).toEqual([
    '2026-11-03',
    'truncated',
    '2026-11-01',
    'truncated',
    '2026-11-02',
    'released',
  ]);
});
