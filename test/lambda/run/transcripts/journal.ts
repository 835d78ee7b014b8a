import {
  type DryRun,
  OperationsError,
  type TaskStatus,
  type TruncateFields,
  type Truncation,
} from '../../../../lambda/gms/operations.ts';
import { revisionOf, type StoredRecord } from '../../../../lambda/ledger/record.ts';
import type { Cause } from '../../../../lambda/model/cause.ts';
import type { Note } from '../../../../lambda/model/note.ts';
import type { PolicyEntry, Report } from '../../../../lambda/model/report-schema.ts';
import type { ServerError } from '../../../../lambda/model/server-error.ts';
import { dayMillis } from '../../../../lambda/model/time.ts';
import { isWorthPublishing } from '../../../../lambda/report/message.ts';
import type { RunServices } from '../../../../lambda/run/services.ts';

/** What the server was asked, what each write to the ledger said, and what was reported: one line each, for people. */

type Services = Omit<RunServices, 'deadline'>;
const number = (value: number): string => value.toLocaleString('en-US');

/** Names of indices are long and contain a time: `index-1` is the first one that a transcript names. */
export function namer(): (text: string) => string {
  const names: Record<'index' | 'task', Map<string, string>> = { index: new Map(), task: new Map() };
  const named = (kind: 'index' | 'task') => (name: string) => {
    const known = names[kind];
    if (!known.has(name)) known.set(name, `${kind}-${known.size + 1}`);
    return known.get(name) ?? name;
  };
  return (text) =>
    text
      .replaceAll('no-such-node:1', 'a task that nobody has')
      .replace(/[\w.-]+aspect_v1(?:_[\w-]+)?_\d{13}/g, named('index'))
      .replace(/[\w-]{22}:\d+|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, named('task'));
}

/** @param start of the run, epoch milliseconds; it is printed as `now`, and other times as days before it */
export function journalled(services: Services, start: () => number, say: (line: string) => void): Services {
  const { operations, ledger } = services;
  const answered = async <Value>(question: string, ask: () => Promise<Value>, text: (value: Value) => string) => {
    try {
      const value = await ask();
      say(`${question}: ${text(value)}`);
      return value;
    } catch (error) {
      if (error instanceof OperationsError) say(`${question}: ${errorText(error.serverError)}`);
      throw error;
    }
  };
  const upTo = ({ cutoffMillis, aspect }: TruncateFields) => `${aspect} up to ${momentText(cutoffMillis - start())}`;
  return {
    ...services,
    operations: {
      dryRun(fields, options) {
        const how = fields.forceDeleteByQuery ? 'dry run' : 'count';
        const text = fields.forceDeleteByQuery ? dryRunText : countText;
        return answered(`${how} ${upTo(fields)}`, () => operations.dryRun(fields, options), text);
      },
      taskStatus: (task, options) =>
        answered(`status of ${task}`, () => operations.taskStatus(task, options), statusText),
      indexSizes: (options) =>
        answered(
          'sizes',
          () => operations.indexSizes(options),
          (sizes) => sizes.map(({ indexName }) => indexName).join(', ') || 'none',
        ),
      async truncate(fields, maySend) {
        const sent = await operations.truncate(fields, maySend);
        say(`TRUNCATE ${upTo(fields)}: ${sentText(sent)}`);
        return sent;
      },
    },
    ledger: {
      ...ledger,
      async replace(next) {
        const isStored = await ledger.replace(next);
        say(`ledger ${revisionOf(next)}: ${isStored ? recordText(next) : 'REFUSED, another writer was first'}`);
        return isStored;
      },
    },
  };
}

const momentText = (millis: number): string => {
  if (millis === 0) return 'now';
  if (Math.abs(millis) < dayMillis / 100) return 'just now';
  return `${daysText(Math.abs(millis))} ${millis < 0 ? 'ago' : 'ahead'}`;
};

const daysText = (millis: number): string => `${number(Math.round((millis / dayMillis) * 100) / 100)} d`;

const countText = ({ rowsToDelete, rowsTotal }: DryRun): string => `${number(rowsToDelete)} of ${number(rowsTotal)}`;
const dryRunText = (dryRun: DryRun): string =>
  `${countText(dryRun)}${dryRun.method === 'reindex' ? ', would reindex' : ''}`;

function statusText(status: TaskStatus): string {
  if (status.kind === 'vanished') return 'not known';
  const { total, deleted = 0, created = 0, updated = 0, versionConflicts = 0, cancelled } = status.counters;
  const written = created + updated;
  return [
    status.completed ? 'completed' : 'running',
    total === undefined
      ? 'no counters'
      : `${number(written || deleted)} ${written ? 'written' : 'deleted'} of ${number(total)}`,
    ...(versionConflicts > 0 ? [`${number(versionConflicts)} conflicts`] : []),
    ...(cancelled ? ['cancelled'] : []),
  ].join(', ');
}

function sentText(sent: Truncation): string {
  switch (sent.kind) {
    case 'started':
      return sent.taskId;
    case 'not-sent':
      return `NOT SENT (${sent.why === 'withheld' ? 'too late' : errorText(sent.why)})`;
    case 'unresolved':
      return `${errorText(sent.error)}, unresolved`;
  }
}

const errorText = ({ kind, status }: ServerError): string => (status === undefined ? kind : `${status} ${kind}`);

export function recordText(record: StoredRecord): string {
  if (record.state === 'unreadable') return 'unreadable';
  const { state, lastVerdict, lastRelease, lastSender, window, unreported } = record;
  switch (state) {
    case 'sending': {
      const { baseline, callError, method } = record.attempt;
      if (callError) return `sending, answered ${errorText(callError)}`;
      const rows = `${number(baseline.rowsToDelete)} to delete, ${number(baseline.rowsToKeep)} to keep`;
      return `sending, ${rows}${method === 'reindex' ? ', reindexes' : ''}`;
    }
    case 'running':
      return `running ${record.taskId}${record.attempt.method === 'reindex' ? ', reindexes' : ''}`;
    case 'idle':
    case 'quarantined':
      return [
        state,
        lastVerdict?.verdict.outcome ?? (lastRelease ? 'released' : `last sender ${lastSender.runId}`),
        ...(window ? [`window of ${number(window.rows)}`] : []),
        ...(unreported ? ['unreported'] : []),
      ].join(', ');
  }
}

/** The report as data: its sentences are in the golden messages. */
export function reportText(report: Report, byHand: boolean, isMarked: boolean): string[] {
  const { runId, result, mode, cause, notes = [], policies, unmanagedIndices = [] } = report;
  const heldBack = isWorthPublishing(report, byHand) ? '' : ', held back by notify: problems';
  return [
    `report: ${mode === 'preview' ? 'PREVIEW ' : ''}${result}${cause ? `, ${factText(cause)}` : ''}${isMarked ? ', marked' : ''}${heldBack}`,
    ...policies.map(entryText(runId)),
    ...notes.map(({ text: _, ...note }) => `  note: ${factText(withoutMoment(note as Note, runId))}`),
    ...unmanagedIndices.map(({ indexName, ...names }) => `  without a policy: ${unmanagedName(names)} ${indexName}`),
  ];
}

const unmanagedName = ({ entityType, aspect }: { entityType?: string | undefined; aspect?: string | undefined }) =>
  entityType && aspect ? `${entityType}.${aspect}` : 'unnamed';

const entryText =
  (runId: string) =>
  (entry: PolicyEntry): string => {
    const { entityType, aspect, outcome, cause } = entry;
    const figures = [
      ['past retention', entry.rowsPastRetention],
      ['deleted', entry.rowsDeleted],
      ['left', entry.rowsRemaining],
      ['left behind', entry.rowsLeftBehind],
      ['missing', entry.rowsMissing],
      ['not visible', entry.rowsNotVisible],
    ] as const;
    return [
      `  ${entityType}.${aspect}: ${outcome}, ${factText(cause)}`,
      ...figures.flatMap(([name, rows]) => (rows ? [`${number(rows)} ${name}`] : [])),
      ...(entry.policyCutoffMillis
        ? [`cutoff ${daysText(entry.policyCutoffMillis - (entry.cutoffMillis ?? 0))} before the policy's`]
        : []),
      ...(entry.owner ? [`owner ${entry.owner}`] : []),
      ...(entry.noIndex ? ['no such index'] : []),
      ...(entry.indexNow ? [`was ${entry.indexName}, replaced by ${entry.indexNow}`] : []),
      ...(entry.method === 'reindex' ? ['reindexes'] : []),
      ...(entry.resumed ? ['resumed'] : []),
      ...(entry.decidedBy && entry.decidedBy !== runId ? [`decided by ${entry.decidedBy}`] : []),
      ...(entry.server ? [`at ${entry.server}`] : []),
    ].join(', ');
  };

/** Who released it matters where another run did; when is in the ledger. */
function withoutMoment(note: Note, runId: string): Note {
  if (note.kind !== 'released') return note;
  return { ...note, decidedAt: undefined, decidedBy: note.decidedBy === runId ? undefined : note.decidedBy };
}

/** `missing expected=400 found=200`; times as `2 Mar 03:30`. */
function factText({ kind, ...fields }: Cause | Note): string {
  const shown = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${valueText(name, value)}`);
  return `${kind}${shown.join('')}`;
}

const times = new Set([
  'startedAt',
  'since',
  'until',
  'lastProgressAt',
  'judgeableAt',
  'releasableAt',
  'cutoffMillis',
  'at',
]);

function valueText(name: string, value: unknown): string {
  if (times.has(name)) return dateText(value as number);
  if (typeof value !== 'object' || value === null) return String(value);
  return 'kind' in value ? `"${errorText(value as ServerError)}"` : JSON.stringify(value);
}

const months = ['Jan', 'Feb', 'Mar', 'Apr'] as const;

export function dateText(millis: number): string {
  const date = new Date(millis);
  return `${date.getUTCDate()}-${months[date.getUTCMonth()]}-${date.toISOString().slice(11, 16)}`;
}
