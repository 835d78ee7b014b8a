import { type Outcome, resultOf } from '../../../lambda/model/outcomes.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { History } from '../histories/history.ts';
import { unreportedOf } from '../world/records.ts';
import { unreportedIn, unresolvedIn } from '../world/world.ts';
import { type CheckRule, type Event, eventsOf, ofRun, othersBetween } from './events.ts';

/**
 * P4: once the faults have stopped, no index is stuck: each is truncated again, or quarantined until a person releases
 * it.
 */

const day = 86_400_000;

export const livenessRules = {
  *'nothing is unresolved in the end'(history) {
    const { world, last } = history;
    if (!last) return;
    for (const record of unresolvedIn(world)) {
      if (record.server === 'http://gms.test:8080') {
        yield { at: world.time.now(), text: `${record.index} is ${record.state} for ever` };
      }
    }
  },

  *'nothing is unreported in the end'(history) {
    const { world, last } = history;
    for (const record of last ? unreportedIn(world) : []) {
      yield { at: world.time.now(), text: `${record.index} was decided by ${unreportedOf(record)?.by.runId}` };
    }
  },

  *'no index is stuck in the last calm night'(history) {
    yield* stuckIn(history, history.last?.calm, ['quarantined']);
  },

  *'after a person has released it, every index is truncated again'(history) {
    yield* stuckIn(history, history.last?.released, []);
  },

  *'no defect'(history) {
    for (const text of history.world.defects) yield { at: history.world.time.now(), text };
  },

  *'a run polls at most 2,000 times: an execution has 25,000 events'(history) {
    for (const ended of eventsOf(history, 'ended')) {
      // One run state of Plan, one of each Truncate, and one of each Poll.
      const taken = ofRun(history, 'taken', ended).length;
      if (taken > 2010) yield { at: ended.at, text: `${ended.runId} has taken ${taken} run states over` };
    }
  },
} satisfies Record<string, CheckRule>;

const fine: readonly Outcome[] = ['above-ceiling', 'still-running'];

function* stuckIn(
  history: History,
  runId: string | undefined,
  also: readonly Outcome[],
): Generator<{ at: number; text: string }> {
  if (runId === undefined) return;
  const published = eventsOf(history, 'published').findLast((event) => event.runId === runId);
  const at = published?.at ?? history.world.time.now();
  if (published?.report.mode !== 'enforce') return yield { at, text: `${runId} has no report of an enforcing run` };
  for (const { index } of history.policies) {
    const entry = published.report.policies.find((one) => searchIndex(one) === index);
    if (!entry) yield { at, text: `${index} is not in the report of ${runId}` };
    else if (isStuck(history, published, entry, also)) {
      yield { at, text: `${index} is ${entry.outcome} (${JSON.stringify(entry.cause)}) in ${runId}` };
    }
  }
}

function isStuck(
  history: History,
  { at }: Event<'published'>,
  { outcome, cause, ...entry }: Event<'published'>['report']['policies'][number],
  also: readonly Outcome[],
): boolean {
  if (resultOf[outcome] === 'ok' || fine.includes(outcome) || also.includes(outcome)) return false;
  if (cause.kind === 'guard' && cause.which === 'refuse-reindex') return false;
  if (cause.kind === 'left-alone') return false;
  // Entities are deleted while it runs, and a truncation of another index may have stopped the run.
  if (cause.kind === 'stopped' && cause.by === 'breaker') return false;
  const isTouched = othersBetween(history, searchIndex(entry), at - day / 2, at);
  return !(outcome === 'rows-missing' && isTouched);
}
