import type { History } from './history.ts';
import type { JournalEvent } from './journal.ts';

/** What happened to one index in one history, a line each: for whoever replays a violation. */
export function eventLines(history: History, index: string): string[] {
  return history.world.journal.flatMap((event) => {
    const text = textOf(event, index.toLowerCase());
    return text === undefined ? [] : [`${new Date(event.at).toISOString()} ${event.kind}: ${text}`];
  });
}

function textOf(event: JournalEvent, index: string): string | undefined {
  const isIndex = (entity: { entityType: string; aspect: string }) =>
    `${entity.entityType}.${entity.aspect}`.toLowerCase() === index;
  switch (event.kind) {
    case 'execution':
      return `${event.runId} (${event.mode}) ${JSON.stringify(event.input)}`;
    case 'ended':
      return `${event.runId} ${event.how}`;
    case 'dry-run':
      if (!isIndex(event.fields)) return undefined;
      return `${by(event.invocation)} up to ${event.fields.endTimeMillis}: ${event.sentence.split('. ')[0]}`;
    case 'truncate':
      if (event.index !== index) return undefined;
      return `${by(event.invocation)} ${JSON.stringify(event.fields)} ${JSON.stringify(event.track)}`;
    case 'ledger': {
      const { state, attempt, lastVerdict, ...record } = event.next;
      if (record.index !== index) return undefined;
      const about = attempt ?? lastVerdict?.entry;
      return `${by(event.invocation)} ${state} ${JSON.stringify(about)} ${JSON.stringify(event.truth ?? {})}`;
    }
    case 'published': {
      const entries = event.report.policies.filter(isIndex);
      return entries.length === 0 ? undefined : `${event.runId} ${JSON.stringify(entries)}`;
    }
    case 'others':
      return 'took rows away from some index';
    case 'paused':
      return String(event.paused);
    case 'foreign':
      return event.present ? 'a record of a newer version appears' : 'it is gone';
    case 'shown':
      return event.where;
    case 'invocation':
    case 'read':
    case 'state':
    case 'taken':
      return undefined;
  }
}

const by = (invocation: { step: string; runId: string } | undefined): string =>
  invocation ? `${invocation.step} of ${invocation.runId}` : 'nobody';
