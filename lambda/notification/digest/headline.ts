import type { Cause } from '../../facts/cause.ts';
import { isLoss } from '../../facts/losses.ts';
import type { PolicyEntry } from '../../facts/report-schema.ts';
import { errorInBrief } from '../../wording/errors.ts';
import { outcomeInSubject } from '../../wording/outcome-words.ts';
import { nameOf, stepFailed } from '../../wording/sentences.ts';

/** A few words of a subject. If space is short, counts of others are dropped first, then details. */
export interface Part {
  text: string;
  /** In parentheses after the words; empty if there is none. */
  detail?: string;
  isCount?: true;
}

/** What happened to one index, in few enough words for a subject; different situations read differently. */
export function headline(entry: PolicyEntry): Part {
  const detail = detailOf(entry.cause, entry)
    .filter((word) => word !== '')
    .join(', ');
  return { text: `${whatOf(entry)} ${nameOf(entry)}`, detail };
}

function whatOf(entry: PolicyEntry): string {
  const { outcome, cause } = entry;
  const isUnseen = cause.kind === 'not-refreshed' || (cause.kind === 'quarantined' && cause.unseen);
  if (outcome === 'emptied') return 'EMPTIED:';
  if (isLoss(entry)) return isUnseen ? 'ROWS NOT VISIBLE in' : 'ROWS MISSING in';
  if (cause.kind === 'unsettled') {
    if (cause.why === 'hung') return 'truncation hangs in';
    if (gaps[cause.why] !== undefined) return 'copy not proven in';
  }
  return `${outcomeInSubject[outcome]} in`;
}

type Why = (Cause & { kind: 'unsettled' })['why'];

/** What the proof of a copy lacks. */
const gaps: Partial<Record<Why, string>> = {
  status: 'task could not be asked',
  counters: 'task did not end well',
  index: 'not the index it made',
};

const unclear: Record<Why, string> = {
  still: 'nothing moves',
  hung: '',
  replaced: 'index replaced',
  uncountable: 'it cannot be counted',
  'no-record': 'its ledger record is gone',
  status: '',
  counters: '',
  index: '',
};

const plain = (text: string | undefined) => (text ?? '').replaceAll('-', ' ');

function detailOf(cause: Cause, entry: PolicyEntry): string[] {
  const { strategy } = entry;
  switch (cause.kind) {
    case 'missing':
      if (cause.since !== undefined) {
        const by = cause.rowsIn ? "others' copy since last run" : 'since last run';
        return [cause.indexGone ? 'index gone since last run' : by];
      }
      if (cause.indexGone) return ['the index is gone'];
      return [strategy !== 'delete-by-query' || cause.movedBy === 'us' ? 'after a copy' : ''];
    case 'emptied':
      return [cause.indexBefore !== undefined && cause.indexBefore !== cause.indexNow ? 'by a copy' : ''];
    case 'quarantined':
      return [cause.outcome === 'unknown' ? 'its truncation is unclear' : 'in quarantine'];
    case 'unsettled':
      if (cause.closed === 'idle') return ['given up'];
      return [
        cause.vanished ? 'task vanished' : (gaps[cause.why] ?? unclear[cause.why]),
        cause.closed === 'quarantined' ? 'in quarantine' : '',
      ];
    case 'watching':
      return [
        cause.does ?? plain(strategy),
        cause.ended ? 'not verified yet' : doneOf(cause),
        cause.error ? `last look: ${errorInBrief[cause.error.kind]}` : '',
      ];
    case 'remains':
      return [
        cause.cancelled ? 'cancelled' : { rows: 'rows are left', conflicts: 'others changed every row' }[cause.why],
      ];
    case 'not-refreshed':
      return entry.outcome === 'incomplete' ? ['deleted rows still show'] : [];
    case 'server':
      return [`${cause.error.operation === 'truncate' ? 'not sent: ' : ''}${errorInBrief[cause.error.kind]}`];
    case 'unchanged':
      return [cause.error ? `truncation: ${errorInBrief[cause.error.kind]}` : 'no answer to the truncation'];
    case 'guard':
      return [guards[cause.which]];
    case 'changed':
      return [
        cause.what === 'rows' && cause.now === 0 ? 'its rows are gone already' : `${changed(cause.what)} changed`,
      ];
    case 'stopped':
      return [stops[cause.by]];
    case 'held':
      return [holders[cause.state]];
    case 'foreign':
      if (cause.deployed) return ['deployed meanwhile'];
      return [
        {
          version: 'ledger record of another version',
          address: 'ledger record of another address',
          clock: 'ledger record by a clock ahead',
        }[cause.why],
      ];
    case 'above-ceiling':
      return [cause.bite === undefined ? '' : 'oldest hour above maxRowsPerRun'];
    case 'policy':
      return ['wrong policy'];
    case 'paused':
      return [cause.problem === undefined ? 'paused' : 'whether paused cannot be read'];
    case 'step-failed':
      return [stepFailed(cause.step)];
    default:
      return [];
  }
}

const stops: Record<(Cause & { kind: 'stopped' })['by'], string> = {
  breaker: 'held back by another index',
  'no-task-ids': 'truncations return no task ID',
  'duplicate-event': 'another run has started for this time',
  'plan-time': 'server too slow',
  'send-time': 'out of time',
  'run-time': 'out of time',
  history: 'out of time',
  spent: 'this run has had its turn',
};

const holders: Record<(Cause & { kind: 'held' })['state'], string> = {
  reserved: 'another run is about to truncate it',
  sending: 'another run is about to truncate it',
  running: 'another run truncates it',
  taken: 'taken by another run',
  closed: 'another run closed it',
};

const guards: Record<(Cause & { kind: 'guard' })['which'], string> = {
  'server-clock': "the server's clock is wrong",
  'start-in-future': 'our clock is wrong',
  floor: 'retention below the minimum',
  counts: 'its counts contradict each other',
  'strategy-unreadable': 'its dry run cannot be understood',
  'reindex-refused': 'the server would reindex',
  'index-name-unknown': 'the name of its index is not known',
  'index-concrete': 'it is no alias',
  'index-young': 'its index is too new to copy',
  'task-status': 'task statuses cannot be read',
  'bite-reindex': 'a reindex cannot go in bites',
};

/** A field of a policy keeps its name. */
const changed = (what: (Cause & { kind: 'changed' })['what']): string =>
  what.startsWith('policy-') ? 'its policy' : what === 'rows' ? 'its rows' : plain(what);

const doneOf = ({ done, total = 0 }: Cause & { kind: 'watching' }): string =>
  done === undefined || total === 0 ? '' : `${Math.floor((done / total) * 100)} % done`;
