import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { JournalEvent } from '../world/journal.ts';
import type { History } from './history.ts';

/** What happened to one index in one history, line by line, for anyone who replays a violation. */
export const eventLines = ({ world }: History, index: string): string[] =>
  world.journal.flatMap((event) => {
    const text = textOf(event, index);
    return text === undefined ? [] : [`${new Date(event.at).toISOString()} ${event.kind} ${text}`];
  });

function textOf(event: JournalEvent, index: string): string | undefined {
  if (event.kind === 'sizes' || event.kind === 'taken' || event.kind === 'listed') return undefined;
  if ('index' in event && event.index !== index) return undefined;
  if (event.kind === 'ledger' && event.next.index !== index) return undefined;
  const { step, id, runId } = 'invocation' in event ? event.invocation : { step: '', id: '', runId: '' };
  const by = runId === '' ? '' : `${step} ${id} of ${runId}`;
  switch (event.kind) {
    case 'dry-run': {
      const { rowsToDelete, rowsTotal, method } = event.answer ?? {};
      const counts = event.answer
        ? `${rowsToDelete} of ${rowsTotal}${method === 'reindex' ? ', reindexes' : ''}`
        : 'no answer';
      return `${by} up to ${new Date(event.fields.cutoffMillis).toISOString()}: ${counts}`;
    }
    case 'ledger':
      return `${by} ${JSON.stringify({ ...event.next, truth: event.truth })}`;
    case 'truncate':
      return `${by} ${JSON.stringify(event.fields)}`;
    case 'settings':
      return event.paused === undefined ? undefined : `${by} paused ${event.paused}`;
    case 'published': {
      const { result, cause, notes, policies } = event.report;
      const entries = policies.filter((entry) => searchIndex(entry) === index);
      return `${event.runId} ${result} ${JSON.stringify({ cause, entries, notes })}`;
    }
    default:
      return `${by} ${JSON.stringify({ ...event, at: undefined, kind: undefined, invocation: undefined })}`;
  }
}
