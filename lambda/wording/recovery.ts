import type { Note } from '../facts/note.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { aliasOf, isUpgraded, madeAtOf } from '../operations/backend.ts';
import { fromDottedName } from '../policy/aspects.ts';
import type { Command, Instruction } from './instruction.ts';
import {
  ask,
  bringOver,
  compare,
  deadlineText,
  goBack,
  isIndexName,
  type Moved,
  makeVisible,
  noMoreReindex,
  type Pause,
  restoreIndex,
  waitForCopies,
} from './repair.ts';

export type { Pause } from './repair.ts';

/**
 * What an operator does to get rows back, or to make them visible, in order: first what keeps things from getting
 * worse, then what only looks, then what changes something. Empty if there is nothing to recover.
 * @param now real time, epoch milliseconds: a deadline may have passed
 * @param pause how to pause this job, if there is a command for it
 */
export function recovery(entry: DecidedFacts, now: number, pause?: Pause): Instruction[] {
  const { cause, strategy, cutoffMillis = 0 } = entry;
  const first = (deadline: Instruction[]) => [...deadline, ...beforeAll(entry, pause)];
  const moved = (facts: Facts) => first([{ say: deadlineOf(facts, now) }]);
  switch (cause.kind) {
    case 'missing': {
      const others = { rowsIn: cause.indexBefore, indexNow: cause.indexNow };
      const isOurs = cause.since === undefined;
      const reindexed = isOurs && (strategy !== 'delete-by-query' || cause.movedBy === 'us');
      if (cause.indexGone) return [{ say: restoreIndex }];
      if (isMoved(cause)) {
        return [...moved(cause), ...back(cause, cutoffMillis), ...(reindexed ? [{ say: noMoreReindex }] : [])];
      }
      if (cause.movedBy === 'others' && isMoved(others)) return [...moved(others), ...bringOver(others, cutoffMillis)];
      if (reindexed) return [...first([{ say: deadlineText() }]), ...lookForCopy, { say: noMoreReindex }];
      return [...first([]), ...lookForDeleter];
    }
    case 'quarantined':
      // Repeated every night, so nobody has to search for the first message.
      if (cause.unseen) return [lookAt(entry), ...makeVisible(cause.indexNow)];
      if (isMoved(cause)) return [...moved(cause), ...back(cause, cutoffMillis)];
      return cause.outcome === 'rows-missing' || cause.outcome === 'emptied' ? [...first([]), ...lookForDeleter] : [];
    case 'emptied': {
      const facts = { rowsIn: cause.indexBefore, indexNow: cause.indexNow };
      return isMoved(facts) ? [...moved(facts), ...back(facts, cutoffMillis)] : [...first([]), ...lookForDeleter];
    }
    case 'not-refreshed':
      return [lookAt(entry), ...makeVisible(cause.indexNow ?? entry.indexName)];
    case 'unsettled': {
      const facts = { rowsIn: cause.indexBefore, indexNow: cause.indexNow };
      if (!isMoved(facts)) return [];
      const look = madeAtOf(facts.rowsIn) === undefined ? [lookAt(entry)] : compare(facts);
      return [{ say: deadlineOf(facts, now) }, ...look];
    }
    case 'verified':
    case 'remains': {
      const facts = { rowsIn: cause.stragglersIn, indexNow: entry.indexName };
      return isMoved(facts) && madeAtOf(facts.rowsIn) !== undefined
        ? [...stragglers(facts), ...bringOver(facts, cutoffMillis)]
        : [];
    }
    default:
      return [];
  }
}

/** The same for an index that an operator wants cleared but that is not whole. */
export function recoveryOfNote(note: Note, now: number, pause?: Pause): Instruction[] {
  if (note.kind !== 'not-released') return [];
  const entry = fromDottedName(note.index);
  if (note.unseen) return [lookAt(entry), ...makeVisible(note.indexNow)];
  return isMoved(note) ? [{ say: deadlineOf(note, now) }, ...beforeAll(entry, pause), ...back(note, 0)] : [];
}

type Facts = { rowsIn?: string | undefined; indexNow?: string | undefined; deadline?: number | undefined };

const isMoved = <Given extends Facts>(facts: Given): facts is Given & Moved =>
  isIndexName(facts.rowsIn) && isIndexName(facts.indexNow) && facts.rowsIn !== facts.indexNow;

const deadlineOf = ({ rowsIn, deadline }: Facts, now: number): string =>
  rowsIn !== undefined && madeAtOf(rowsIn) === undefined ? deadlineText() : deadlineText(rowsIn, deadline, now);

type Index = Pick<DecidedFacts, 'entityType' | 'aspect'>;

const pauseBoth =
  'Pause this job and datahub-gc, so that nothing else changes the index: datahub-gc in DataHub under Ingestion (switch its schedule off)';

/** Anything still running may make it worse, and counts are too low while a shard is missing. */
const beforeAll = (index: Index, pause: Pause | undefined): Instruction[] => [
  pause === undefined
    ? { say: pauseBoth }
    : {
        say: `${pauseBoth}, this job by its parameter${pause.account === undefined ? '' : ` (account ${pause.account})`}, which stops this job alone`,
        line: pause.command,
        typedIn: 'shell',
      },
  lookAt(index),
  waitForCopies,
];

/**
 * The remedy for an alias that has moved. An index whose name has no time is its own alias, which now points to the
 * new index; and DataHub now uses an index that an upgrade created: neither gets a command that moves an alias.
 */
function back(facts: Moved, cutoffMillis: number): Instruction[] {
  if (madeAtOf(facts.rowsIn) === undefined) {
    return [
      {
        say: `The name ${facts.rowsIn} leads to ${facts.indexNow} now, so counting both counts one index twice. Look in the list above for another index with the rows; without one, restore them from a snapshot of the search engine`,
      },
    ];
  }
  return isUpgraded(facts.indexNow) ? bringOver(facts, cutoffMillis) : goBack(facts, aliasOf(facts.rowsIn));
}

/** Every index of this name, with its health, its rows and its age. */
export const indexRequest = ({ entityType, aspect }: Index): string =>
  `GET /_cat/indices/*${`${entityType}_${aspect}`.toLowerCase().replace(/[^\p{Ll}\p{Lo}\p{N}_.+-]+/gu, '*')}aspect_v1*?v&h=health,index,docs.count,creation.date.string`;

const lookAt = (index: Index): Command =>
  ask(
    'See whether every index of this name is green or yellow. While one is red, a shard is away and counts are too low: wait until it is back, and count again',
    indexRequest(index),
  );

const lookForCopy: Instruction[] = [
  {
    say: 'An older index in that list without an alias (GET /_cat/aliases?v) holds the rows: the runbook says how to point the alias back to it',
  },
];

const lookForDeleter: Instruction[] = [
  {
    say: 'Find out what else deletes here (datahub-gc, which cuts at 30 days by default; someone by hand; entity deletion), and restore the rows from a snapshot of the search engine if they matter. An older index in that list, which a reindex leaves behind, may hold them too',
  },
];

const stragglers = ({ rowsIn }: Moved): Instruction[] => [
  {
    say: `Rows written just before the copy began may be in ${rowsIn} alone, and no count can see them. Before you remove that index, or upgrade DataHub, which may remove it, bring them over`,
  },
];

/** As running text, for places with a single field for it. */
export const recoveryText = (entry: DecidedFacts, now: number): string =>
  recovery(entry, now)
    .map(({ say, line }) => (line === undefined ? `${say}.` : `${say}: ${line}.`))
    .join(' ');
