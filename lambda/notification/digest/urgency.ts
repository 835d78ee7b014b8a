import { isLoss, mayHaveLost } from '../../facts/losses.ts';
import { type Urgency, urgencies, urgencyOfOutcome } from '../../facts/outcomes.ts';
import type { PolicyEntry, Report } from '../../facts/report-schema.ts';
import { date } from '../../wording/numbers.ts';
import { type Before, nightText, urgencyText } from '../../wording/outcome-words.ts';
import { entryStep } from '../next/entry-steps.ts';
import { errorStep, noteStep } from '../next/run-steps.ts';
import type { Step } from '../next/step.ts';
import { problemGroups, withError } from './groups.ts';

/** How urgent a run is, and since when: the most urgent of its error, its entries and its notes. */

interface Told {
  urgency: Urgency;
  before?: Before | undefined;
}

/** `How urgent: act before 24 Sep 2026. Since 1 Aug 2026.` */
export function urgencySentence(report: Report): string {
  const { urgency, before } = urgencyOf(report);
  const since = troubledSince(report);
  return `How urgent: ${urgencyText(urgency, before)}.${nightOf(report) === '' || since === undefined ? '' : ` Since ${date(since)}.`}`;
}

/** `second night`, for what the subject names; empty for the first one. */
export function nightOf(report: Report): string {
  const since = troubledSince(report);
  return since === undefined ? '' : nightText(since, Date.parse(report.startedAt));
}

export function urgencyOf(report: Report): Told {
  const { policies, cause, notes = [] } = report;
  const all: Told[] = [
    ...(cause ? [{ urgency: ofError(report) }] : []),
    ...policies.map((entry) => ofEntry(entry, report)),
    ...notes.map((note): Told => {
      if (note.kind === 'token-expires') return { urgency: 'act', before: note.at };
      // The rows are there until the next upgrade, and no later message says so.
      if (note.kind === 'released' && note.rowsIn !== undefined) return { urgency: 'change' };
      if (note.kind === 'not-released' && note.why === 'rows-missing') return lost(note.deadline, report);
      return { urgency: asks(noteStep(note, {})) ? 'week' : 'nothing' };
    }),
  ];
  const rank = ({ urgency }: Told) => urgencies.indexOf(urgency);
  // An upgrade may come at any time.
  const soonest = ({ before = 0 }: Told) => (before === 'snapshots-expire' ? Number.POSITIVE_INFINITY : before);
  const first = (one: Told, other: Told) =>
    soonest(one) < soonest(other) ? -1 : Number(soonest(one) > soonest(other));
  return all.sort((one, other) => rank(one) - rank(other) || first(one, other))[0] ?? { urgency: 'nothing' };
}

const lost = (deadline: number | undefined, { finishedAt }: Report): Told => ({
  urgency: 'act',
  ...(deadline !== undefined && deadline > Date.parse(finishedAt) && { before: deadline }),
});

function ofError(report: Report): Urgency {
  // The person who started it by hand has the answer; scheduled runs are not affected.
  if (report.cause?.kind === 'input') return 'change';
  return report.cause?.kind === 'no-policy' || asks(errorStep(report, {})) ? 'week' : 'nothing';
}

function ofEntry(entry: PolicyEntry, report: Report): Told {
  const { outcome, cause } = entry;
  if (wasDeleted(cause)) return { urgency: 'act', before: 'snapshots-expire' };
  if (isLoss(entry)) return lost('deadline' in cause ? cause.deadline : undefined, report);
  if (mayHaveLost(entry)) return { urgency: urgencyOfOutcome.truncated };
  if (cause.kind === 'not-refreshed') return { urgency: urgencyOfOutcome[outcome] };
  // Until this is settled, an upgrade could remove the index that holds the rows.
  if (cause.kind === 'unsettled' && cause.copied && !cause.closed) return { urgency: 'change' };
  // Nothing starts at all until someone fixes that.
  if (cause.kind === 'paused' && cause.problem !== undefined) return { urgency: urgencyOfOutcome.failed };
  return { urgency: asks(entryStep([entry], report, {})) ? urgencyOfOutcome[outcome] : 'nothing' };
}

/** The rows were deleted, with or without their index: no index that an upgrade deletes is known to have them. */
const wasDeleted = (cause: PolicyEntry['cause']): boolean =>
  (cause.kind === 'missing' && cause.indexGone === true) ||
  (cause.kind === 'emptied' && cause.indexBefore !== undefined && cause.indexBefore === cause.indexNow);

/** Whether a step asks for anything but waiting. */
const asks = (step: Step | undefined): boolean => step !== undefined && !step.passes;

/** Since when the worst index has been in the same trouble, or all indices that a failed run did not look at. */
function troubledSince(report: Report): number | undefined {
  const [worst] = problemGroups(report).flatMap(({ entries }) => entries);
  if (report.error === undefined) return worst && sinceOf(worst);
  const each = withError(report).map(sinceOf);
  return each.length === 0 || each.includes(undefined) ? undefined : Math.max(...each.map(Number));
}

function sinceOf({ cause, since }: PolicyEntry): number | undefined {
  if (cause.kind === 'quarantined') return cause.since;
  const at = Date.parse(since ?? '');
  return Number.isNaN(at) ? undefined : at;
}
