import { maxHistoryEvents } from '../../../lambda/facts/limits.ts';
import { resultOf } from '../../../lambda/facts/outcomes.ts';
import { type Report, reportSchema } from '../../../lambda/facts/report-schema.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import { bytesOf, maxStateBytes } from '../../support/states.ts';
import { type CheckRule, type Event, eventsOf, othersBetween, policiesOfPlan, runOf } from './events.ts';

/** Rules about what people see, and about the limits of the workflow (safety rules 10 and 11). */

const maxMessageBytes = 256 * 1024;

export const reportRules = {
  *'the token is nowhere'(history) {
    for (const { at, where } of eventsOf(history, 'shown')) yield { at, text: `the token is in a ${where}` };
  },

  *'run state, history and message within their limits'(history) {
    for (const { at, state, invocation } of eventsOf(history, 'state')) {
      const bytes = bytesOf(state);
      if (bytes >= maxStateBytes) yield { at, text: `${invocation.runId}: ${bytes} bytes after ${invocation.step}` };
    }
    for (const { at, runId, bytes } of eventsOf(history, 'published')) {
      if (bytes >= maxMessageBytes) yield { at, text: `${runId}: a message of ${bytes} bytes` };
    }
    for (const { at, runId, events } of eventsOf(history, 'ended')) {
      if (events >= maxHistoryEvents) yield { at, text: `${runId}: ${events} events` };
    }
  },

  *'a report says what its schema promises, and its result is the worst of it'(history) {
    for (const { at, runId, report } of eventsOf(history, 'published')) {
      const valid = reportSchema.safeParse(report);
      if (!valid.success) yield { at, text: `${runId}: ${valid.error.message}` };
      for (const { entityType, aspect, reason } of report.policies) {
        if (reason.trim() === '') yield { at, text: `${runId}: ${entityType}.${aspect} without a reason` };
      }
      const isWorse = report.policies.some(({ outcome }) => rank(resultOf[outcome]) > rank(report.result));
      if (isWorse || (report.cause && report.result !== 'failed')) yield { at, text: `${runId}: ${report.result}` };
    }
  },

  *'every policy is in the report once'(history) {
    const executions = new Map(eventsOf(history, 'execution').map((event) => [runOf(event), event]));
    for (const published of eventsOf(history, 'published')) {
      const { at, runId, report } = published;
      const input = executions.get(runOf(published))?.input ?? {};
      // Another version's run state is reported as far as its head goes.
      if (input['clear'] || input['only'] || isOfAnother(report)) continue;
      const sources = planOf(history, published);
      // If the run could not read its policies, it says so.
      if (sources === undefined || (report.cause !== undefined && report.policies.length === 0)) continue;
      const expected = new Map<string, number>();
      for (const source of sources) {
        const index = indexOf(source);
        expected.set(index, (expected.get(index) ?? 0) + 1);
      }
      for (const [index, count] of expected) {
        const entries = report.policies.filter((entry) => searchIndex(entry) === index);
        // An index that is watched without a readable policy appears next to the policy's own entry.
        const own = entries.filter(({ adopted }) => !adopted).length || entries.length;
        if (own !== count) yield { at, text: `${runId}: ${index} is in the report ${own} times, not ${count}` };
      }
    }
  },

  *'a run tells only of its own truncation as its own'(history) {
    const sent = new Set(eventsOf(history, 'truncate').map(({ invocation, index }) => `${runOf(invocation)} ${index}`));
    for (const published of eventsOf(history, 'published')) {
      if (isOfAnother(published.report)) continue;
      for (const entry of published.report.policies) {
        const index = searchIndex(entry);
        const isTold = ['truncated', 'incomplete'].includes(entry.outcome) && !entry.adopted;
        // docs/testing.md, `same-rows`.
        if (isTold && !sent.has(`${runOf(published)} ${index}`) && !tookItsRows(history, published, index)) {
          yield { at: published.at, text: `${published.runId}: ${index} is ${entry.outcome}, and nothing was sent` };
        }
      }
    }
  },

  *'a report that rows may be gone is sent to those who want problems only'(history) {
    for (const { at, runId, report, told } of eventsOf(history, 'published')) {
      const entry = report.policies.find(({ cause }) => 'stragglersIn' in cause && cause.stragglersIn !== undefined);
      if (!told && entry)
        yield { at, text: `${runId}: ${searchIndex(entry)} may have left rows behind, and is not told` };
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

/** Another process deleted rows after the run had written `sending`. */
function tookItsRows(history: Parameters<CheckRule>[0], published: Event<'published'>, index: string): boolean {
  const sending = eventsOf(history, 'ledger').find(
    ({ next }) => next.index === index && next.state === 'sending' && runOf(next.attempt) === runOf(published),
  );
  const name = history.world.servers[0].nameOf(index);
  return sending !== undefined && othersBetween(history, name, sending.at, published.at);
}

const rank = (result: Report['result']): number => ['ok', 'attention', 'failed'].indexOf(result);

const isOfAnother = ({ cause }: Report): boolean => cause?.kind === 'foreign';

/** The policies that the run's Plan read. A Plan may be tried again: undefined if its tries read different ones. */
function planOf(history: Parameters<CheckRule>[0], published: Event<'published'>) {
  const plans = policiesOfPlan(history.world.journal, published);
  const texts = new Set(plans.map(({ policies }) => JSON.stringify(policies)));
  return texts.size === 1 ? plans[0]?.policies : undefined;
}

function indexOf({ name, text }: { name: string; text: string }): string {
  try {
    return searchIndex(JSON.parse(text) as { entityType: string; aspect: string });
  } catch {
    const [, entityType = '', aspect = ''] = /([^./]+)\.([^./]+)$/.exec(name) ?? [];
    return searchIndex({ entityType, aspect });
  }
}
