import { deadlineMarginMillis } from '../../facts/limits.ts';
import type { Night } from '../../memory/night.ts';
import { growthOf } from '../../memory/trends.ts';
import { OperationsError } from '../../operations/operations.ts';
import { type Circumstances, decide, withHeadroom } from '../../policy/decision.ts';
import { ordersOf, type Policy } from '../../policy/schema.ts';
import { findBite, nightsOf } from '../../truncation/bite.ts';
import { truncateFields } from '../../truncation/fields.ts';
import { done } from '../entries.ts';
import type { Entry, Planned } from '../state.ts';
import { type Counted, countsOf, due, type Found, type Planning, type PolicyContext } from './context.ts';

/**
 * If more rows are due than one run may delete, further dry runs find out how many go, once every policy has had its
 * first.
 */
export function bitten(
  counted: Counted,
  policy: Policy,
  { dryRun, cutoffMillis, ask, given, bite }: Found & { given: Circumstances; bite: number },
  { state, services, signal }: PolicyContext,
): Planning {
  const { clock, deadline } = services;
  const isOver = () => signal.aborted || clock.now() >= deadline() - deadlineMarginMillis;
  const askInTime = async (endTimeMillis: number) => {
    if (isOver()) return undefined;
    try {
      return await ask({ ...truncateFields(policy, cutoffMillis), endTimeMillis });
    } catch (error) {
      if (signal.aborted && error instanceof OperationsError) return undefined;
      throw error;
    }
  };
  const tooSlow = done(counted, 'not-started', { kind: 'stopped', by: 'plan-time' });
  const search = async (nights: readonly Night[]): Promise<Entry> => {
    const found = await findBite({ cutoffMillis, whole: dryRun, bite, ask: askInTime });
    if (found.kind === 'no-time') return tooSlow;
    if (found.kind === 'too-large') {
      const { rows: rowsToDelete, cutoffMillis: oldest } = found;
      const policys = { rowsPastRetention: dryRun.rowsToDelete, policyCutoffMillis: cutoffMillis };
      const entry = { ...counted.entry, rowsToDelete, cutoffMillis: oldest, ...(oldest < cutoffMillis && policys) };
      const cause = { kind: 'above-ceiling', approveRows: withHeadroom(rowsToDelete), bite } as const;
      return done({ index: counted.index, entry }, 'above-ceiling', cause);
    }
    const { cutoffMillis: sent, dryRun: part } = found;
    const entry = {
      ...counted.entry,
      ...countsOf(part),
      rowsPastRetention: dryRun.rowsToDelete,
      cutoffMillis: sent,
      policyCutoffMillis: cutoffMillis,
    };
    const planned = { index: counted.index, entry };
    if (part.strategy === 'reindex') return done(planned, 'failed', { kind: 'guard', which: 'bite-reindex' });
    const decision = decide(policy, { ...given, dryRun: part, whole: dryRun, cutoffMillis: sent });
    if (decision.kind === 'refuse') return done(planned, decision.outcome, decision.cause);
    const left = nightsOf(dryRun, bite, policy.minDeletePercent, growthOf(nights)?.overduePerDay);
    const nightsLeft = left === undefined ? {} : { nights: left };
    if (state.mode === 'preview') return due(planned, policy, { bite, ...nightsLeft });
    const rows = part.rowsToDelete;
    const plan: Planned = {
      rowsToDelete: dryRun.rowsToDelete,
      strategy: decision.strategy,
      bite: { cutoffMillis: sent, rows, ...nightsLeft },
    };
    return { ...planned, phase: 'approved', policy: ordersOf(policy), plan };
  };
  return { entry: tooSlow, search: safely(search, counted) };
}

const safely =
  (search: NonNullable<Planning['search']>, counted: Counted): NonNullable<Planning['search']> =>
  async (nights) => {
    try {
      return await search(nights);
    } catch (error) {
      if (!(error instanceof OperationsError)) throw error;
      return done(counted, 'failed', { kind: 'server', error: error.fact, sent: 'no' });
    }
  };
