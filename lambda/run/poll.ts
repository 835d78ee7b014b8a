import pLimit from 'p-limit';
import { addressElsewhere } from '../ledger/ownership.ts';
import { isUnresolved, runOf, type StoredRecord } from '../ledger/record.ts';
import { isSameRun } from '../ledger/transitions.ts';
import type { Cause } from '../model/cause.ts';
import { type CheckServices, check } from '../truncation/check.ts';
import { withDeadline } from '../truncation/clock.ts';
import { isDue } from '../truncation/next-check.ts';
import { mayBeSent } from '../truncation/watch.ts';
import { afterRefusal, ownCallWithoutTask, withBreaker } from './breaker.ts';
import { deadlineMarginMillis } from './deadlines.ts';
import { decisionOf, resolvedEntry } from './entries.ts';
import { budgetExceeded, nextStep } from './next.ts';
import { afterFailure } from './recover.ts';
import type { RunServices } from './services.ts';
import { assertReadable, type Entry, type RunState, type WatchedEntry } from './state.ts';
import { view } from './view.ts';

const pollConcurrency = 4;

/**
 * Poll: checks every unresolved truncation that is due, verifies those that have ended by counting again, and writes
 * their verdicts. After a failed Truncate it first finds out what that Truncate did. It only reads and makes
 * conditional transitions, so it may be repeated at any time: a verdict that is already in the ledger is final.
 */
export async function poll(state: RunState, services: RunServices): Promise<RunState> {
  const { clock, settings } = services;
  assertReadable(state, settings);
  const recovered = await afterFailure({ ...state, polls: state.polls + 1 }, services);
  const end = services.deadline() - deadlineMarginMillis;
  const checked = await withDeadline(clock, end, (signal) => checkAll(recovered, services, end, signal));
  return nextStep(withBreaker(checked), settings, clock.now());
}

async function checkAll(state: RunState, services: RunServices, end: number, signal: AbortSignal): Promise<RunState> {
  const { clock, settings } = services;
  const isOver = (now: number) => budgetExceeded(state, settings, now) !== undefined;
  const run = runOf(state);
  const limit = pLimit(pollConcurrency);
  const one = async (entry: Entry): Promise<{ entry: Entry; breaker?: Cause | undefined }> => {
    const now = clock.now();
    if (entry.phase !== 'watched' || now >= end || !(isOver(now) || isDue(entry.watch, now))) return { entry };
    const record = await services.ledger.read(entry.index);
    const call = ownCallWithoutTask(record, run);
    return {
      entry: await checkOne(entry, record, state, { ...services, signal, run, isLastCheck: isOver }),
      // A call of this run that returned no task id may have been refused.
      breaker: call && afterRefusal(call.callError?.status),
    };
  };
  const polled = await Promise.all(state.entries.map((entry) => limit(() => one(entry))));
  const breaker = state.breaker ?? polled.find((result) => result.breaker)?.breaker;
  return { ...state, entries: polled.map(({ entry }) => entry), breaker };
}

async function checkOne(
  entry: WatchedEntry,
  record: StoredRecord | undefined,
  state: RunState,
  services: CheckServices & RunServices,
): Promise<Entry> {
  const { clock, log } = services;
  const now = clock.now();
  const isThere = record !== undefined && isUnresolved(record) && isSameRun(record.attempt, entry.watch.run);
  // After a deployment that changed the address, counts would say nothing about it.
  if (!isThere || addressElsewhere(record, state) !== undefined)
    return resolvedEntry(entry, entry.watch, record, state, now);
  // A check of another truncation may have brought this one's forward, and it may still be sent.
  if (mayBeSent(record, now)) return entry;
  const checked = await check(record, entry.watch, services);
  if (checked.kind === 'watching') {
    return { ...entry, record: checked.record, watch: checked.watch };
  }
  const resolved = resolvedEntry(entry, entry.watch, checked.record, state, clock.now());
  log.info('verdict', { ...view(resolved, state), ...decisionOf(resolved), index: entry.index });
  return resolved;
}
