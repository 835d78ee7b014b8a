import type { LedgerRecord } from '../../lambda/ledger/record.ts';
import { type Execution, startExecution } from './execution.ts';
import type { PolicyOf } from './history.ts';
import type { World } from './world.ts';

/**
 * The operator in the morning: reads the reports that came, does what they say (repairs, then clears; approves), and
 * nothing that no report asked for.
 */
export async function morning(
  world: World,
  executions: Execution[],
  policies: PolicyOf[],
  number: number,
): Promise<void> {
  const { journal, engine, rows, time, ledger } = world;
  const reports = journal.flatMap((event) => (event.kind === 'published' ? [event.report] : []));
  const told = (index: string) =>
    reports
      .flatMap((report) => report.policies)
      .filter((entry) => `${entry.entityType}.${entry.aspect}`.toLowerCase() === index);
  const run = async (name: string, input: Record<string, unknown>) => {
    const execution = startExecution(world, name, input);
    executions.push(execution);
    await time.run(() => execution.ended || time.now() >= limit);
  };
  const limit = time.now() + 3_000_000;
  time.at(limit, () => {});

  for (const { index, entityType, aspect } of policies) {
    const record = ledger.stored.get(index) as LedgerRecord | undefined;
    const named = told(index).find(({ outcome }) => outcome === 'rows-missing' || outcome === 'quarantined');
    if (record?.state === 'quarantined' && named) {
      repair(world, index, record.lastVerdict?.entry.reason ?? '');
      await run(`clear-${number}-${index}`, {
        mode: 'enforce',
        only: [`${entityType}.${aspect}`],
        clear: [`${entityType}.${aspect}`],
      });
    }
    const last = told(index).at(-1);
    const pasted = last?.outcome === 'above-ceiling' ? /\{.*\}/.exec(last.reason)?.[0] : undefined;
    if (pasted) await run(`approve-${number}-${index}`, JSON.parse(pasted) as Record<string, unknown>);
  }

  function repair({ engine: { indices } }: World, index: string, reason: string): void {
    const before = /has moved from (\S+) to /.exec(reason)?.[1];
    journal.push({ at: time.now(), kind: 'others' });
    rows.others(index, () => {
      if (before && indices().some(({ name, index: of }) => name === before && of === undefined)) {
        engine.pointAlias(index, before);
      }
      engine.refresh();
      rows.refreshed();
    });
  }
}
