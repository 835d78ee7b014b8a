import pLimit from 'p-limit';
import type { Note, NoteOf } from '../../model/note.ts';
import { dottedName } from '../../policy/aspects.ts';
import { differences, letsMoreThrough } from '../../policy/difference.ts';
import { namesOf, type ParsedPolicy, type ReadablePolicy } from '../../policy/parse.ts';
import { decisionOf } from '../entries.ts';
import type { Entry } from '../state.ts';
import { type PlanContext, planPolicy, searchCutoff } from './policy.ts';
import type { Preparation } from './prepare.ts';

type PolicyChange = NoteOf<'policy-change'>;

/** Parallel decisions about live policies, beside what Plan has counted. */
const concurrency = 4;

/**
 * What the given policies change: how each differs from the live one, and what a run decides about its index with the
 * one and with the other. What may delete more comes first.
 * @param planned the given policies whose index was counted
 */
export async function changesOf(
  { chosen, named, live, policies }: Preparation,
  planned: readonly Entry[],
  context: PlanContext,
): Promise<Note[]> {
  if (!Array.isArray(live)) return [];
  // The live policies are asked about for comparison only: what else is noticed belongs to the given ones.
  const comparison = { ...context, notes: [] };
  const limit = pLimit(concurrency);
  const changes = chosen.map((given) => limit(() => changeOf(given, live, planned, comparison)));
  const removed = live
    .filter(({ index }) => (named?.includes(index) ?? true) && policies.every((given) => given.index !== index))
    .map((gone) => limit(() => removal(gone, comparison)));
  const found = (await Promise.all([...changes, ...removed])).filter((change) => change !== undefined);
  return found.sort((one, other) => Number(other.deletesMore) - Number(one.deletesMore));
}

/** @returns undefined where the given policy says what the live one says, or cannot be read */
async function changeOf(
  given: ParsedPolicy,
  live: readonly ParsedPolicy[],
  planned: readonly Entry[],
  context: PlanContext,
): Promise<PolicyChange | undefined> {
  const was = live.find(({ index }) => index === given.index);
  if (given.kind === 'invalid' || was?.kind === 'invalid') return undefined;
  const fields = was
    ? differences(was.policy, given.policy).map(({ field, before, after }) => ({ field, live: before, given: after }))
    : [];
  if (was && fields.length === 0) return undefined;
  const own = planned.find(({ index }) => index === given.index);
  // An index that the given policy does not count has an entry of its own.
  const today = was && own ? await decidedToday(was, context) : undefined;
  const withGiven = own && decidedIn(own);
  return {
    kind: 'policy-change',
    index: dottedName(given.policy),
    what: was ? 'changed' : 'new',
    // A longer retention may leave so few rows to delete that they no longer exceed the ceiling.
    deletesMore: letsMoreThrough(was?.policy, given.policy) || rowsIn(withGiven) > rowsIn(today),
    fields,
    today,
    withGiven,
  };
}

const removal = async (gone: ParsedPolicy, context: PlanContext): Promise<PolicyChange> => ({
  kind: 'policy-change',
  index: dottedName(namesOf(gone)),
  what: 'removed',
  deletesMore: false,
  fields: [],
  today: gone.kind === 'policy' ? await decidedToday(gone, context) : undefined,
});

async function decidedToday(live: ReadablePolicy, context: PlanContext): Promise<PolicyChange['today']> {
  if (!live.policy.enabled) return { outcome: 'disabled' };
  if ((context.records.get(live.index)?.state ?? 'idle') !== 'idle') return undefined;
  const entry = await planPolicy(live, context);
  return decidedIn(entry.phase === 'unsearched' ? await searchCutoff(entry, context) : entry);
}

const rowsIn = (decided: PolicyChange['today']): number =>
  decided?.outcome === 'would-truncate' ? (decided.rowsToDelete ?? 0) : 0;

const decidedIn = (entry: Entry): PolicyChange['today'] =>
  entry.phase === 'done'
    ? { outcome: decisionOf(entry).outcome, rowsToDelete: entry.plan?.counts?.rowsToDelete }
    : undefined;
