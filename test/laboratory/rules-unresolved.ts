import { resultOf } from '../../lambda/facts/outcome.ts';
import { calmNights, firstNight } from './history.ts';
import type { CheckRule } from './rules.ts';
import { eventsOf } from './rules-sending.ts';

/** Rules about truncations whose end is not known, and about who may close them (safety rules 4 to 6, 8 and 9). */

const hour = 3_600_000;

export const unresolvedRules = {
  *'none while another of the index is unresolved'(history) {
    const unresolved = new Map<string, { attemptId: string | undefined; runId: string }>();
    for (const event of history.world.journal) {
      if (event.kind === 'ledger') {
        const { index, state, lastVerdict } = event.next;
        const open = unresolved.get(index);
        const closed = state === 'idle' || state === 'quarantined' || lastVerdict?.attemptId === open?.attemptId;
        if (open && closed) unresolved.delete(index);
      }
      if (event.kind !== 'truncate') continue;
      const { index, track, invocation } = event;
      const open = unresolved.get(index);
      if (open) yield { at: event.at, text: `${index}: ${invocation.runId} sent, that of ${open.runId} is unresolved` };
      unresolved.set(index, { attemptId: track.attemptId, runId: invocation.runId });
    }
  },

  *'none while a task of ours still works on the index'(history) {
    const tasks = new Map(history.world.engine.tasks().map((task) => [task.id, task]));
    const before: { index: string; tasks: string[] }[] = [];
    for (const { at, index, track } of eventsOf(history, 'truncate')) {
      const running = before
        .filter((earlier) => earlier.index === index)
        .flatMap((earlier) => earlier.tasks)
        .map((id) => tasks.get(id)!)
        .find((task) => task.startedAt < at && (task.completedAt ?? Number.POSITIVE_INFINITY) > at);
      if (running) yield { at, text: `${index}: sent while task ${running.id} was at work` };
      before.push(track);
    }
  },

  *'nobody judges before it may be judged'(history) {
    for (const { at, invocation, previous, next } of eventsOf(history, 'ledger')) {
      const attempt = previous?.attempt;
      const closes = next.state === 'idle' || next.state === 'quarantined';
      if (previous?.state !== 'sending' || !closes || !attempt) continue;
      const own =
        invocation?.runId === attempt.runId && (invocation.step === 'truncate' || attempt.answer !== undefined);
      if (!own && at < attempt.judgeableAt) {
        yield { at, text: `${next.index}: closed by ${invocation?.runId} before its judgeableAt` };
      }
    }
  },

  *'what nobody saw end is kept for 20 h, a reindex for good'(history) {
    for (const { at, previous, next } of eventsOf(history, 'ledger')) {
      const attempt = previous?.attempt;
      const outcome = next.lastVerdict?.entry.outcome;
      const isNew = next.lastVerdict?.attemptId === attempt?.attemptId;
      if (!attempt || !isNew || (outcome !== 'lost' && outcome !== 'unknown')) continue;
      if (at - (attempt.sendingSince ?? at) < 20 * hour) yield { at, text: `${next.index}: ${outcome} before 20 h` };
      if (attempt.strategy !== 'delete-by-query' && next.state !== 'quarantined') {
        yield { at, text: `${next.index}: ${outcome} after a reindex, and open again` };
      }
    }
  },

  *'rows-missing closes the index until a person clears it'(history) {
    for (const { at, next, previous, invocation } of eventsOf(history, 'ledger')) {
      const isNew = next.lastVerdict && next.lastVerdict.attemptId !== previous?.lastVerdict?.attemptId;
      if (isNew && next.lastVerdict?.entry.outcome === 'rows-missing' && next.state !== 'quarantined') {
        yield { at, text: `${next.index}: rows-missing, and ${next.state}` };
      }
      if (
        previous?.state === 'quarantined' &&
        next.state !== 'quarantined' &&
        !invocation?.runId.startsWith('clear-')
      ) {
        yield { at, text: `${next.index}: no longer quarantined, without a person` };
      }
    }
  },

  *'small shrinks add up'(history) {
    const sums = new Map<string, number>();
    for (const { at, previous, next } of eventsOf(history, 'ledger')) {
      const verdict = next.lastVerdict;
      const baseline = previous?.attempt?.baseline;
      if (previous?.state === 'quarantined') sums.delete(next.index);
      if (!verdict || !baseline || verdict.attemptId !== previous?.attempt?.attemptId) continue;
      const { outcome, rowsMissing = 0 } = verdict.entry;
      if (outcome !== 'truncated' && outcome !== 'incomplete') continue;
      const sum = rowsMissing === 0 ? 0 : (sums.get(next.index) ?? 0) + rowsMissing;
      sums.set(next.index, sum);
      if (sum > 10 && sum > baseline.rowsKept * 0.02) {
        yield { at, text: `${next.index}: ${sum} rows missing over several verdicts, and ${outcome}` };
      }
    }
  },

  *'a preview leaves the ledger alone'(history) {
    const modes = new Map(eventsOf(history, 'execution').map(({ runId, mode }) => [runId, mode]));
    for (const { at, invocation, next } of eventsOf(history, 'ledger')) {
      if (invocation && modes.get(invocation.runId) === 'preview')
        yield { at, text: `${next.index}: written by a preview` };
    }
  },

  *'nothing is unresolved or stuck after the last calm night'(history) {
    const { world, scenario, policies } = history;
    const at = world.time.now();
    for (const stored of world.ledger.stored.values()) {
      const { index, state } = stored as { index: string; state: string };
      // A reservation past its sendBy is anybody's to take.
      if (state === 'sending' || state === 'running') yield { at, text: `${index} is ${state} for ever` };
    }
    const last = scenario.nights.length + calmNights - 1;
    const report = eventsOf(history, 'published').findLast(({ runId }) => runId === `night-${last}`)?.report;
    if (!report)
      yield { at, text: `the calm night ${last} (${new Date(firstNight).toISOString()} + ${last} d) has no report` };
    for (const { index } of policies) {
      const entry = report?.policies.find((one) => `${one.entityType}.${one.aspect}`.toLowerCase() === index);
      const stuck = ['in-flight', 'still-running', 'not-started', 'lost', 'unknown', 'incomplete'];
      // Where refreshing is off for good, deleted rows are counted for ever: said every night, and not ours to cure.
      const view = world.engine.indices().find((one) => one.index?.toLowerCase() === index);
      if (entry?.outcome === 'incomplete' && view?.rows !== view?.visibleRows) continue;
      // Closed in this very night, after 20 h: three such indices take turns, because each opens the circuit breaker.
      const closed = world.ledger.stored.get(index) as { state: string } | undefined;
      const isGivenUp = entry?.outcome === 'unknown' || entry?.outcome === 'lost';
      if (isGivenUp && closed?.state === 'quarantined') continue;
      if (entry && stuck.includes(entry.outcome)) {
        yield {
          at,
          text: `${index} is ${entry.outcome} (${resultOf[entry.outcome]}) in the last calm night: ${entry.reason}`,
        };
      }
    }
  },
} satisfies Record<string, CheckRule>;
