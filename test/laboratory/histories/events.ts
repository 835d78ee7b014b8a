import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { JournalEvent } from '../world/journal.ts';
import type { History } from './history.ts';

/** What happened to one index in one history, line by line, for anyone who replays a violation. */
export function eventLines({ world }: History, index: string): string[] {
  return world.journal.flatMap((event) => {
    const text = textOf(event, index);
    return text === undefined ? [] : [`${new Date(event.at).toISOString()} ${event.kind}: ${text}`];
  });
}

function textOf(event: JournalEvent, index: string): string | undefined {
  switch (event.kind) {
    case 'execution':
      return `${event.runId} (${event.mode}) from ${new Date(event.runStartMillis).toISOString()} ${JSON.stringify(event.input)}`;
    case 'ended':
      return `${event.runId} ${event.how}`;
    case 'dry-run': {
      if (event.index !== index) return undefined;
      const { rowsToDelete, rowsTotal, deletesInPlace } = event.answer ?? {};
      const counts = event.answer ? `${rowsToDelete} of ${rowsTotal}${deletesInPlace ? '' : ', copies'}` : 'no answer';
      return `${by(event.invocation)} up to ${new Date(event.fields.cutoffMillis).toISOString()}: ${counts}`;
    }
    case 'truncate': {
      if (event.index !== index) return undefined;
      return `${by(event.invocation)} ${JSON.stringify(event.fields)}`;
    }
    case 'answered':
      if (event.index !== index) return undefined;
      return `${by(event.invocation)} ${event.status ?? 'nothing'}${event.isTaskId ? ' with a task id' : ''}`;
    case 'status':
      return `${by(event.invocation)} ${event.taskId} ${JSON.stringify(event.answer)}`;
    case 'ledger': {
      if (event.next.index !== index) return undefined;
      const { state, lastVerdict, revision } = event.next;
      const about = 'attempt' in event.next && state !== 'quarantined' ? event.next.attempt : lastVerdict;
      return `${by(event.invocation)} ${revision} ${state} ${JSON.stringify(about)} truth ${JSON.stringify(event.truth)}`;
    }
    case 'published': {
      const { report } = event;
      const entries = report.policies.filter((entry) => searchIndex(entry) === index);
      const said = entries.map(({ reason: _reason, ...entry }) => JSON.stringify(entry));
      return `${event.runId} ${report.result} ${JSON.stringify(report.cause ?? '')} ${said.join(' ')} notes ${JSON.stringify(report.notes)}`;
    }
    case 'others':
      return event.index === index ? event.what : undefined;
    case 'paused':
      return String(event.paused);
    case 'foreign':
      return `${event.index} ${event.present ? 'a record of another version appears' : 'it is gone'}`;
    case 'orders':
      return event.paused === undefined ? undefined : `${by(event.invocation)} paused ${event.paused}`;
    case 'invocation':
      return `${event.invocation.step} ${event.invocation.id} of ${event.invocation.runId}`;
    case 'sizes':
    case 'taken':
      return undefined;
  }
}

const by = ({ step, runId, id }: { step: string; runId: string; id: number }): string => `${step} ${id} of ${runId}`;
