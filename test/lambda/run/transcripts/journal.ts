import type { Cause } from '../../../../lambda/facts/cause.ts';
import { dayMillis } from '../../../../lambda/facts/limits.ts';
import type { Report } from '../../../../lambda/facts/report-schema.ts';
import type { ServerError } from '../../../../lambda/facts/server-error.ts';
import type { LedgerRecord, StoredRecord } from '../../../../lambda/ledger/record.ts';
import {
  type DryRun,
  type Operations,
  OperationsError,
  type TaskStatus,
  type TruncateFields,
  type Truncation,
} from '../../../../lambda/operations/operations.ts';
import { absentTask } from '../../../../lambda/preflight/preflight.ts';

/** What the server was asked, what each write to the ledger said, and what was reported: one line each, for people. */

const number = (value: number): string => value.toLocaleString('en-US');

/** Names of indices are long and contain a time: `index-1` is the first one that a transcript names. */
export function namer(): (text: string) => string {
  const names: Record<'index' | 'task', Map<string, string>> = { index: new Map(), task: new Map() };
  const named = (kind: 'index' | 'task') => (name: string) => {
    const known = names[kind];
    if (!known.has(name)) known.set(name, `${kind}-${known.size + 1}`);
    return known.get(name)!;
  };
  return (text) =>
    text
      .replaceAll(absentTask, 'a task that nobody has')
      .replace(/[\w.-]+aspect_v1_\d{13}/g, named('index'))
      .replace(/[\w-]{22}:\d+/g, named('task'));
}

/** @param start of the run, epoch milliseconds; it is printed as `now`, and other times as days before it */
export function journalled(operations: Operations, start: () => number, say: (line: string) => void): Operations {
  const answered = async <Value>(question: string, ask: () => Promise<Value>, told: (value: Value) => string) => {
    try {
      const value = await ask();
      say(`${question}: ${told(value)}`);
      return value;
    } catch (error) {
      if (error instanceof OperationsError) say(`${question}: ${errorText(error.fact)}`);
      throw error;
    }
  };
  const upTo = ({ endTimeMillis, aspect }: TruncateFields) =>
    `${aspect} up to ${momentText(endTimeMillis - start(), endTimeMillis)}`;
  return {
    dryRun: (fields, options) =>
      answered(`count ${upTo(fields)}`, () => operations.dryRun(fields, options), dryRunText),
    taskStatus: (task, options) =>
      answered(`status of ${String(task)}`, () => operations.taskStatus(task, options), statusText),
    indexSizes: (options) =>
      answered(
        'sizes',
        () => operations.indexSizes(options),
        (sizes) => sizes.map(({ indexName }) => indexName).join(', '),
      ),
    async truncate(fields, maySend) {
      const how = fields.forceReindex ? 'REINDEX' : 'DELETE';
      const sent = await operations.truncate(fields, maySend);
      say(`${how} ${upTo(fields)}: ${sentText(sent)}`);
      return sent;
    },
  };
}

const momentText = (millis: number, end: number): string => {
  if (end === 0) return 'the beginning';
  if (millis === 0) return 'now';
  if (Math.abs(millis) < 600_000) return 'just now';
  const days = Math.round((Math.abs(millis) / dayMillis) * 100) / 100;
  return millis < 0 ? `${days} d ago` : `${days} d ahead`;
};

const dryRunText = ({ rowsToDelete, rowsTotal, strategy }: DryRun): string =>
  `${number(rowsToDelete)} of ${number(rowsTotal)}${strategy === 'reindex' ? ', would reindex' : ''}`;

function statusText(status: TaskStatus): string {
  if (status.kind === 'vanished') return 'not known';
  const { total = 0, deleted = 0, created = 0, versionConflicts = 0, cancelled } = status.counters;
  const done = created > 0 ? `${number(created)} copied` : `${number(deleted)} deleted`;
  return [
    status.completed ? 'completed' : 'running',
    `${done} of ${number(total)}`,
    ...(versionConflicts > 0 ? [`${number(versionConflicts)} conflicts`] : []),
    ...(cancelled ? ['cancelled'] : []),
  ].join(', ');
}

function sentText(sent: Truncation): string {
  switch (sent.kind) {
    case 'started':
      return `${sent.taskId}`;
    case 'not-sent':
      return `not sent (${sent.why === 'withheld' ? 'too late' : errorText(sent.why)})`;
    case 'unresolved':
      return `${errorText(sent.error)}, nobody knows`;
  }
}

const errorText = ({ kind, status }: ServerError): string => (status === undefined ? kind : `${status} (${kind})`);

/** `ledger  reserved -> sending: 600 to delete, 400 to keep`. */
export function writeText(previous: StoredRecord | undefined, next: LedgerRecord, stored: boolean): string {
  const was = previous === undefined ? 'nothing' : previous.state;
  return `ledger ${was} -> ${next.state}${stored ? recordText(next) : ' REFUSED: it has changed meanwhile'}`;
}

function recordText(record: LedgerRecord): string {
  switch (record.state) {
    case 'reserved':
      return ` by ${record.attempt.runId}`;
    case 'sending': {
      const { baseline, answer } = record.attempt;
      const kept = record.windows.map(({ rows }) => number(rows)).join(', ');
      return answer
        ? ` with the answer ${errorText(answer.error)}`
        : `: ${number(baseline.rowsToDelete)} to delete, windows to keep ${kept}`;
    }
    case 'running':
      return `: ${record.attempt.taskId}`;
    case 'idle':
      return record.lastVerdict ? `: ${record.lastVerdict.entry.outcome}` : '';
    case 'quarantined':
      return `: ${record.lastVerdict.entry.outcome}`;
  }
}

/** The report as data: its words are in the golden messages. */
export function reportText({ result, mode, cause, notes = [], policies }: Report): string[] {
  return [
    `report: ${mode === 'preview' ? 'PREVIEW ' : ''}${result}${cause ? `, ${causeText(cause)}` : ''}`,
    ...policies.map((entry) => {
      const { entityType, aspect, outcome, rowsDeleted, rowsMissing, adopted } = entry;
      const figures = [
        ...(rowsDeleted === undefined ? [] : [`${number(rowsDeleted)} deleted`]),
        ...(rowsMissing === undefined ? [] : [`${number(rowsMissing)} missing`]),
        ...(adopted ? ['adopted'] : []),
      ];
      return `  ${entityType}.${aspect}: ${outcome}, ${causeText(entry.cause)}${figures.map((figure) => `, ${figure}`).join('')}`;
    }),
    ...notes.map(({ text: _, ...note }) => `  note: ${causeText(note)}`),
  ];
}

/** `verified by=counts`. Times of the virtual clock are left out; that rows went missing after the verdict is printed. */
function causeText({ kind, ...fields }: Cause | { kind: string }): string {
  const later = kind === 'missing' && 'since' in fields ? ' since the last verdict' : '';
  const told = Object.entries(fields)
    .filter(([name]) => !times.has(name))
    .map(([name, value]) => ` ${name}=${typeof value === 'object' && value !== null ? inner(value) : value}`);
  return `${kind}${later}${told.join('')}`;
}

const times = new Set(['since', 'until', 'deadline', 'lastMovedAt', 'at']);
const inner = (value: object): string => ('kind' in value ? errorText(value as ServerError) : JSON.stringify(value));
