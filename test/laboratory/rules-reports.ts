import { maxHistoryEvents, maxStateBytes } from '../../lambda/facts/limits.ts';
import { reportSchema } from '../../lambda/facts/report-schema.ts';
import { bytesOf } from '../../lambda/run/budget.ts';
import type { CheckRule } from './rules.ts';
import { eventsOf } from './rules-sending.ts';

/** Rules about what people get to see, and about the limits of the workflow (safety rules 10 and 11). */

export const reportRules = {
  *'the token is nowhere'(history) {
    for (const { at, where } of eventsOf(history, 'shown')) yield { at, text: `the token is in a ${where}` };
  },

  *'run state and history within budget'(history) {
    for (const { at, state, invocation } of eventsOf(history, 'state')) {
      const bytes = bytesOf(state);
      if (bytes >= maxStateBytes) yield { at, text: `${invocation.runId}: ${bytes} bytes after ${invocation.step}` };
    }
    for (const { at, runId, events } of eventsOf(history, 'ended')) {
      if (events >= maxHistoryEvents) yield { at, text: `${runId}: ${events} events` };
    }
  },

  *'every policy is in the report once, with a reason'(history) {
    const inputs = new Map(eventsOf(history, 'execution').map(({ runId, input }) => [runId, input]));
    for (const { at, runId, report } of eventsOf(history, 'published')) {
      const valid = reportSchema.safeParse(report);
      if (!valid.success) yield { at, text: `${runId}: not a report: ${valid.error.message}` };
      const only = (inputs.get(runId)?.['only'] as string[] | undefined)?.map((name) => name.toLowerCase());
      // Where the run could not read its policies, it says so.
      const readNone = report.error !== undefined && report.policies.length === 0;
      for (const { index, twice } of history.policies) {
        const entries = report.policies.filter(
          ({ entityType, aspect }) => `${entityType}.${aspect}`.toLowerCase() === index,
        );
        // What is watched without a policy that can be read stands beside the policy's own entry.
        const own = entries.filter(({ adopted }) => !adopted).length || entries.length;
        if (only && !only.includes(index)) continue;
        if (!readNone && own !== (twice ? 2 : 1))
          yield { at, text: `${runId}: ${index} is in the report ${own} times` };
      }
      for (const { entityType, aspect, reason } of report.policies) {
        if (reason.trim() === '') yield { at, text: `${runId}: ${entityType}.${aspect} without a reason` };
      }
    }
  },

  *'every execution ends in a report or fails'(history) {
    const published = new Set(eventsOf(history, 'published').map(({ runId }) => runId));
    const ends = new Map(eventsOf(history, 'ended').map((end) => [end.runId, end]));
    for (const { at, runId } of eventsOf(history, 'execution')) {
      const how = ends.get(runId)?.how;
      if (how === undefined) yield { at, text: `${runId} never ended` };
      if (how === 'succeeded' && !published.has(runId)) yield { at, text: `${runId} succeeded without a report` };
    }
  },

  *'no error that the program does not know'(history) {
    for (const text of history.world.defects) yield { at: history.world.time.now(), text };
  },
} satisfies Record<string, CheckRule>;
