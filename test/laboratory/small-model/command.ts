import pLimit from 'p-limit';
import { bundleWorker, runWorker } from '../campaign/bundle.ts';
import { threads } from '../campaign/commands.ts';
import { printTable, progress } from '../campaign/print.ts';
import { violationText } from '../rules/checker.ts';

/** `npm run faults -- --enumerate`. */

/** The longest first, so that it does not keep one thread busy at the end. */
const sizes = [
  { server: 'reindexes, alias first', faults: 1, checks: 1, answers: 'every', second: 'at once' },
  { server: 'reindexes, alias last', faults: 1, checks: 1, answers: 'few', second: 'at once' },
  { server: 'reindexes, alias first', faults: 2, checks: 0, answers: 'own', second: 'at once' },
  { server: 'deletes in place', faults: 1, checks: 1, answers: 'every', second: 'at once' },
  { server: 'deletes in place', faults: 2, checks: 0, answers: 'own', second: 'at once' },
  { server: 'reindexes, alias last', faults: 2, checks: 0, answers: 'own', second: 'at any time' },
  { server: 'deletes in place', faults: 2, checks: 0, answers: 'own', second: 'at any time' },
  { server: 'reindexes, alias last', faults: 2, checks: 0, answers: 'own', second: 'a preview at any time' },
] as const;

/**
 * One fault anywhere, with every answer, at once or late, and checks that fall anywhere; and two faults with the
 * server's own answer, whenever it acts. With other answers as well, two faults take hours.
 */
export async function runEnumeration(): Promise<boolean> {
  const path = await bundleWorker('enumeration');
  const limit = pLimit(threads);
  const lived = progress('histories', 10_000);
  const results = await Promise.all(
    sizes.map((size) => limit(() => runWorker(path, { kind: 'small model', ...size, most: 20 }, lived))),
  );
  console.log('Two executions over one index, each step of either first, faults at any step:');
  printTable(
    ['server', 'second', 'faults', 'answers', 'checks open', 'states', 'histories', 'to the end', 'violations'],
    results.map(({ server, second, faults, answers, checks, states, histories, complete, violations }) => [
      ...[server, second, faults, answers, checks, states, histories, complete, violations.length],
    ]),
  );
  const violations = results.flatMap((one) => one.violations);
  for (const violation of violations.slice(0, 5)) console.log(`  ${violationText(violation)}`);
  return violations.length === 0;
}
