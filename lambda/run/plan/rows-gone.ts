import type { Cause } from '../../facts/cause.ts';
import type { Idle, Reserved } from '../../ledger/record.ts';
import { settleIdle } from '../../ledger/settle.ts';
import { release } from '../../ledger/transitions.ts';
import { asking, type DryRun } from '../../operations/operations.ts';
import type { Policy } from '../../policy/schema.ts';
import { truncateFields } from '../../truncation/fields.ts';
import { goneSince } from '../../truncation/gone-since.ts';
import { recoveryFacts } from '../../truncation/recovery.ts';
import { askingOf, done } from '../entries.ts';
import type { RunServices } from '../services.ts';
import type { Entry } from '../state.ts';
import type { Counted, Found, PolicyContext } from './context.ts';

/**
 * Rows that were there when the last truncation was verified but are now gone. This concerns only one index; an
 * enforcing run closes it until an operator clears it. If the record has changed since it was read, another run is at
 * work.
 */
export async function rowsGone(
  counted: Counted,
  policy: Policy,
  { cutoffMillis, record, size, ask, indexGone }: Found,
  { state, services }: PolicyContext,
): Promise<Entry | undefined> {
  const { lastVerdict } = record ?? {};
  if (!record || !lastVerdict?.window) return undefined;
  // Uses the names under which the rows were counted: a policy may spell its index differently, and a server may
  // compare names exactly.
  const { entry: then, window } = lastVerdict;
  const fields = { ...truncateFields(policy, cutoffMillis), entityType: then.entityType, aspect: then.aspect };
  const upTo = async (endTimeMillis: number) => (await ask({ ...fields, endTimeMillis })).rowsToDelete;
  const gone = await goneSince(window, cutoffMillis, upTo);
  if (!gone) return undefined;
  const { rowsIn, deadline } = recoveryFacts(then.indexName, size?.indexName);
  const cause: Cause = {
    kind: 'missing',
    expected: window.rows,
    found: gone.found,
    since: window.countedAt,
    ...(rowsIn !== undefined && { rowsIn }),
    ...(rowsIn !== undefined && size && { indexNow: size.indexName }),
    ...(deadline !== undefined && { deadline }),
    ...(indexGone && { indexGone }),
  };
  const rowsMissing = window.rows - gone.found;
  const entry = done(counted, 'rows-missing', cause, { rowsMissing });
  if (state.mode !== 'enforce') return entry;
  const { ledger, clock, newId } = services;
  const now = clock.now();
  const taken = done(counted, 'in-flight', { kind: 'held', state: 'taken' });
  const idle = record.state === 'idle' ? record : await givenBack(record, services, now);
  if (!idle) return taken;
  const { runId, runStartMillis } = askingOf(state);
  const written = await settleIdle(ledger, idle, {
    entry: entry.entry,
    windows: [window],
    run: { runId, runStartMillis },
    id: newId(),
    now,
  });
  return written ? entry : taken;
}

/**
 * The same if the search engine has no such index. It asks again with the verdict's names, because a policy may spell
 * its index differently, and one such answer may be wrong. Undefined for every other answer.
 */
export async function rowsGoneWithIndex(
  counted: Counted,
  policy: Policy,
  found: Omit<Found, 'dryRun' | 'indexGone'>,
  context: PolicyContext,
): Promise<Entry | undefined> {
  const { entityType, aspect } = found.record?.lastVerdict?.entry ?? {};
  if (entityType === undefined || aspect === undefined) return undefined;
  const asked = await asking(() => found.ask({ ...truncateFields(policy, found.cutoffMillis), entityType, aspect }));
  if (asked.kind === 'done' || asked.error.kind !== 'no-index') return undefined;
  const dryRun: DryRun = { rowsToDelete: 0, rowsTotal: 0 };
  const empty = { ...counted, entry: { ...counted.entry, rowsTotal: 0, rowsToDelete: 0 } };
  return rowsGone(empty, policy, { ...found, dryRun, indexGone: true, ask: async () => dryRun }, context);
}

/** A reservation whose time to send has passed is taken back first; undefined while its owner may still send. */
async function givenBack(record: Reserved, { ledger }: RunServices, now: number): Promise<Idle | undefined> {
  if (now < record.attempt.sendBy) return undefined;
  const idle = release(record);
  return (await ledger.replace(record, idle)) ? idle : undefined;
}
