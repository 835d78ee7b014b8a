import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { JournalEvent } from '../world/journal.ts';
import type { History } from './history.ts';

/** What happened to one index in one history, line by line, for anyone who replays a violation. */
export function eventLines(history: History, index: string): string[] {
  return history.world.journal.flatMap((event) => {
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
    case 'dry-run':
      if (searchIndex(event.fields) !== index) return undefined;
      return `${by(event.invocation)} up to ${new Date(event.fields.endTimeMillis).toISOString()}: ${event.sentence.split('This was')[0]}`;
    case 'truncate':
      if (event.index !== index) return undefined;
      return `${by(event.invocation)} ${JSON.stringify(event.fields)} ${JSON.stringify(event.track)}`;
    case 'answered':
      if (event.index !== index) return undefined;
      return `${by(event.invocation)} ${event.status}${event.isTaskId ? ' with a task id' : ''}`;
    case 'ledger': {
      const { state, lastVerdict } = event.next;
      if (event.next.index !== index) return undefined;
      const about = 'attempt' in event.next ? event.next.attempt : lastVerdict?.entry;
      return `${by(event.invocation)} ${state} ${JSON.stringify(about)} windows ${JSON.stringify(event.next.windows)} truth ${JSON.stringify(event.truth)}`;
    }
    case 'published': {
      const entries = event.report.policies.filter((entry) => searchIndex(entry) === index);
      const notes = event.report.notes ?? [];
      return `${event.runId} ${event.report.result} ${JSON.stringify(event.report.cause ?? '')} ${entries.map(({ outcome, cause, adopted, rowsMissing }) => JSON.stringify({ outcome, cause, adopted, rowsMissing })).join(' ')} notes ${JSON.stringify(notes)}`;
    }
    case 'others':
      return `${event.what}${event.index === undefined ? '' : ` (${event.index})`}`;
    case 'paused':
      return String(event.paused);
    case 'foreign':
      return `${event.index} ${event.present ? 'a record of another version appears' : 'it is gone'}`;
    case 'shown':
      return event.where;
    case 'orders':
      return event.paused === undefined ? undefined : `${by(event.invocation)} paused ${event.paused}`;
    case 'read':
      return event.action === 'getEsTaskStatus'
        ? `${by(event.invocation)} ${event.action} ${event.task} ${event.status}`
        : undefined;
    case 'invocation':
      return event.invocation.step === 'truncate'
        ? `truncate ${event.invocation.id} of ${event.invocation.runId}`
        : undefined;
    case 'state':
    case 'taken':
      return undefined;
  }
}

const by = (invocation: { step: string; runId: string; id: number } | undefined): string =>
  invocation ? `${invocation.step} ${invocation.id} of ${invocation.runId}` : 'nobody';
