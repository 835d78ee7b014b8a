import type { Cause } from '../../facts/cause.ts';
import type { Outcome } from '../../facts/outcomes.ts';
import type { PolicyEntry } from '../../facts/report-schema.ts';
import { nameOf } from '../../wording/sentences.ts';

/** What happened to one index, in as few words as a subject has room for: two different situations read differently. */
export function headline(entry: PolicyEntry): string {
  const { outcome, cause } = entry;
  const isUnseen = outcome === 'rows-missing' && cause.kind === 'not-refreshed';
  const detail = isUnseen
    ? ''
    : detailOf(cause, entry)
        .filter((word) => word !== '')
        .join(', ');
  return `${isUnseen ? 'ROWS NOT VISIBLE' : words[outcome]}${outcome === 'emptied' ? ':' : ' in'} ${nameOf(entry)}${detail === '' ? '' : ` (${detail})`}`;
}

const words: Record<Outcome, string> = {
  'rows-missing': 'ROWS MISSING',
  emptied: 'EMPTIED',
  quarantined: 'quarantine',
  unknown: 'state unknown',
  failed: 'failed',
  'above-ceiling': 'above the ceiling',
  incomplete: 'incomplete',
  'not-started': 'not started',
  'in-flight': 'busy',
  'still-running': 'still running',
  truncated: 'truncated',
  'would-truncate': 'would be truncated',
  'below-threshold': 'below the threshold',
  'nothing-to-delete': 'nothing to delete',
  disabled: 'switched off',
};

function detailOf(cause: Cause, { strategy }: PolicyEntry): string[] {
  const plain = (text: string | undefined) => (text ?? '').replaceAll('-', ' ');
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
      return [plain(cause.outcome), cause.unseen ? 'not visible' : ''];
    case 'unsettled':
      return [cause.vanished ? 'task vanished' : cause.why, cause.closed ?? '', cause.error?.kind ?? ''];
    case 'watching':
      return [cause.does ?? plain(strategy), cause.ended ? 'task ended' : doneOf(cause), cause.error?.kind ?? ''];
    case 'remains':
      return [cause.cancelled ? 'cancelled' : cause.why];
    case 'server':
    case 'unchanged':
      return [
        plain(cause.kind === 'unchanged' ? 'unchanged' : cause.error.operation),
        plain(cause.error?.kind),
        `${cause.error?.status ?? ''}`,
      ];
    case 'guard':
      return [plain(cause.which)];
    case 'changed':
      return [plain(cause.what)];
    case 'stopped':
      return [cause.by.endsWith('-time') ? 'no time' : plain(cause.by)];
    case 'held':
      return [cause.state === 'closed' ? 'another run closed it' : plain(cause.state)];
    case 'foreign':
      return [`other ${cause.why}`];
    case 'above-ceiling':
      return [cause.bite === undefined ? '' : 'oldest rows exceed a bite'];
    case 'policy':
      return ['wrong policy'];
    default:
      return [plain(cause.kind)];
  }
}

const doneOf = ({ done, total = 0 }: Cause & { kind: 'watching' }): string =>
  done === undefined || total === 0 ? '' : `${Math.floor((done / total) * 100)} % done`;
