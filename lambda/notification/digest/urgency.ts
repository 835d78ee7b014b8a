import { isLoss, mayHaveLost } from '../../facts/losses.ts';
import { type Urgency, urgencies, urgencyOfOutcome } from '../../facts/outcomes.ts';
import type { PolicyEntry, Report } from '../../facts/report-schema.ts';
import { nightText, urgencyText } from '../../wording/outcome-words.ts';
import { type NextStep, nextStep, noteStep, runErrorStep } from '../next/next-step.ts';

/** How urgent a run is, and since when: the most urgent of its error, its entries and its notes. */

interface Told {
  urgency: Urgency;
  before?: number | undefined;
}

/** `How urgent: act before 24 Sep 2026, second night.` */
export function urgencySentence(report: Report): string {
  const { urgency, before } = urgencyOf(report);
  const night = sinceWhen(report);
  return `How urgent: ${urgencyText(urgency, before)}${night === '' ? '' : `, ${night}`}.`;
}

export function urgencyOf(report: Report): Told {
  const { policies, cause, noteFacts = [], finishedAt } = report;
  const now = Date.parse(finishedAt);
  const all: Told[] = [
    ...(cause
      ? [{ urgency: cause.kind === 'no-policy' || asks(runErrorStep(cause)) ? 'week' : 'nothing' } as const]
      : []),
    ...policies.map((entry) => ofEntry(entry, now)),
    ...noteFacts.map((note): Told => {
      if (note.kind === 'token-expires') return { urgency: 'act', before: note.at };
      return { urgency: asks(noteStep(note)) ? 'week' : 'nothing' };
    }),
  ];
  const rank = ({ urgency }: Told) => urgencies.indexOf(urgency);
  const soonest = ({ before = 0 }: Told) => before;
  return (
    all.sort((one, other) => rank(one) - rank(other) || soonest(one) - soonest(other))[0] ?? { urgency: 'nothing' }
  );
}

function ofEntry(entry: PolicyEntry, now: number): Told {
  const { outcome, cause, strategy } = entry;
  if (isLoss(entry)) {
    const deadline = 'deadline' in cause ? cause.deadline : undefined;
    return { urgency: 'act', ...(deadline !== undefined && deadline > now && { before: deadline }) };
  }
  if (mayHaveLost(entry)) return { urgency: urgencyOfOutcome.truncated };
  if (cause.kind === 'not-refreshed') return { urgency: urgencyOfOutcome[outcome] };
  // Until it is settled an upgrade could remove the index that holds its rows.
  if (cause.kind === 'unsettled' && cause.copied && !cause.closed) return { urgency: 'change' };
  return { urgency: asks(nextStep(outcome, cause, { strategy })) ? urgencyOfOutcome[outcome] : 'nothing' };
}

/** Whether a step asks for anything but waiting. */
function asks(step: NextStep): boolean {
  if (step.kind === 'ask-cluster') return step.about === 'hang';
  return step.kind !== 'none' && step.kind !== 'wait' && step.kind !== 'watch' && step.kind !== 'see-log';
}

function sinceWhen({ policies, finishedAt }: Report): string {
  const since = policies.flatMap(({ cause }) => (cause.kind === 'quarantined' ? [cause.since] : []));
  return since.length === 0 ? '' : nightText(Math.min(...since), Date.parse(finishedAt));
}
