import type { Report } from '../../lambda/facts/report-schema.ts';
import { indexKey } from '../../lambda/ledger/ledger.ts';
import { memoryLedger } from '../../lambda/ledger/memory.ts';
import { isForeign, LEDGER_VERSION, type LedgerRecord } from '../../lambda/ledger/record.ts';
import type { Exchange } from '../../lambda/operations/http/transport.ts';
import type { TruncateFields } from '../../lambda/operations/operations.ts';
import type { Log, PolicySource, RunSettings } from '../../lambda/run/services.ts';
import { createEngine, type Engine } from '../../local/operations-service/engine.ts';
import type { Reply } from '../../local/operations-service/exchange.ts';
import type { ProfileName } from '../../local/operations-service/profiles.ts';
import type { SampleIndex } from '../../local/operations-service/samples.ts';
import { type Chances, createChances } from './chances.ts';
import type { Invocation } from './invocation.ts';
import type { InvocationInfo, JournalEvent, Track } from './journal.ts';
import { createRowAccount, type RowAccount } from './rows.ts';
import { createVirtualTime, type VirtualTime } from './virtual-time.ts';
import { calm, type Weather } from './weather.ts';

/** Everything of one history: a server, a ledger, parameters, and the journal of what happens to them. */
export interface World {
  time: VirtualTime;
  chances: Chances;
  engine: Engine;
  rows: RowAccount;
  ledger: ReturnType<typeof memoryLedger>;
  journal: JournalEvent[];
  log: Log;
  /** Faults that were injected, by kind. */
  faults: Map<string, number>;
  /** Defects of the program: errors that are none of its own kinds. */
  defects: string[];
  weather(): Weather;
  setWeather(weather: Weather): void;
  settings(): RunSettings;
  policies(): PolicySource[];
  paused(): boolean;
  setPaused(paused: boolean): void;
  nextInvocation(): number;
  newId(): string;
  injected(kind: string): void;
  /** Something that people or logs get to see: the token must not be in it. */
  show(where: string, text: string): void;
  threw(invocation: Invocation, error: Error): void;
  publish(runId: string, report: Report): void;
  handle(exchange: Exchange): Reply;
  readAnswered(invocation: InvocationInfo, exchange: Exchange, reply: Reply): void;
  sent(invocation: InvocationInfo, exchange: Exchange): Track;
  /** Told of each real truncate. */
  onSent: (index: string) => void;
  /** How long a task of this truncate takes to show that it is at work. */
  firstBatchMillis(exchange: Exchange): number;
  replace(invocation: InvocationInfo, previous: LedgerRecord | undefined, next: LedgerRecord): Promise<boolean>;
}

export interface WorldOptions {
  seed: number;
  start: number;
  profile: ProfileName;
  indices: SampleIndex[];
  policies: PolicySource[];
  settings: RunSettings;
}

const ownErrors = new Set([
  'LedgerError',
  'ParametersError',
  'OperationsError',
  'PublishError',
  // Poll's own word for a record that several runs fight over; the workflow tries it again.
  'Error',
]);

export function createWorld({ seed, start, profile, indices, policies, settings }: WorldOptions): World {
  const time = createVirtualTime(start);
  const chances = createChances(seed);
  const engine = createEngine({ profile, seed: (seed % 65_521) + 1, clock: { now: time.now }, indices });
  const ledger = memoryLedger();
  const rows = createRowAccount(engine, time.now);
  const journal: JournalEvent[] = [];
  const faults = new Map<string, number>();
  const tracks = new Map<string, Track>();
  let weather: Weather = calm;
  let paused = false;
  let invocations = 0;
  let ids = 0;

  const world: World = {
    time,
    chances,
    engine,
    rows,
    ledger,
    journal,
    faults,
    defects: [],
    log: {
      info: (message, fields) => world.show('log', `${message} ${JSON.stringify(fields ?? {})}`),
      warn: (message, fields) => world.show('log', `${message} ${JSON.stringify(fields ?? {})}`),
      error: (message, fields) => world.show('log', `${message} ${JSON.stringify(fields ?? {})}`),
    },
    weather: () => weather,
    setWeather(next) {
      weather = next;
    },
    settings: () => settings,
    policies: () => policies,
    paused: () => paused,
    setPaused(next) {
      if (next !== paused) journal.push({ at: time.now(), kind: 'paused', paused: next });
      paused = next;
    },
    nextInvocation: () => ++invocations,
    newId: () => `id-${++ids}`,
    injected: (kind) => faults.set(kind, (faults.get(kind) ?? 0) + 1),
    show(where, text) {
      if (text.includes(engine.token)) journal.push({ at: time.now(), kind: 'shown', where });
    },
    threw(invocation, error) {
      const known =
        error.name === 'Error' ? /kept changing|was invoked twice/.test(error.message) : ownErrors.has(error.name);
      if (!known) world.defects.push(`${invocation.step}: ${error.stack ?? error.message}`);
    },
    publish(runId, report) {
      world.show('report', JSON.stringify(report));
      journal.push({ at: time.now(), kind: 'published', runId, report: structuredClone(report) });
    },
    handle({ url, headers, body }) {
      const { pathname, search } = new URL(url);
      return engine.handle({ method: 'POST', path: pathname + search, headers: { ...headers }, body });
    },
    readAnswered(invocation, { url, body }, reply) {
      const at = time.now();
      const { dryRun, ...fields } = JSON.parse(body) as TruncateFields & { dryRun?: boolean };
      if (!url.endsWith('truncateTimeseriesAspect') || reply.kind !== 'reply' || reply.status !== 200) {
        journal.push({ at, kind: 'read', invocation });
        return;
      }
      if (dryRun !== true) throw new Error('a read that is no dry run');
      const sentence = String((JSON.parse(reply.body) as { value: unknown }).value);
      const date = Date.parse(reply.headers['Date'] ?? '');
      const skew = Number.isNaN(date) ? {} : { clockSkewMillis: date - at };
      journal.push({ at, kind: 'dry-run', invocation, fields, sentence, ...skew });
    },
    sent(invocation, { body }) {
      const fields = JSON.parse(body) as TruncateFields & { dryRun: false };
      const index = indexKey(fields.entityType, fields.aspect);
      const stored = ledger.stored.get(index) as LedgerRecord | undefined;
      const record = stored && !isForeign(stored) ? structuredClone(stored) : undefined;
      const attempt = record?.attempt?.runId === invocation.runId ? record.attempt : undefined;
      const track: Track = {
        index,
        attemptId: attempt?.attemptId,
        runId: invocation.runId,
        cutoffMillis: fields.endTimeMillis,
        windowEndMillis: Math.max(attempt?.runStartMillis ?? invocation.startedAt, attempt?.baseline?.latelyUntil ?? 0),
        sentAt: time.now(),
        acted: false,
        tasks: [],
      };
      if (attempt) tracks.set(attempt.attemptId, track);
      rows.sending(track);
      world.onSent(index);
      journal.push({ at: time.now(), kind: 'truncate', invocation, index, fields, record, track });
      return track;
    },
    onSent: () => {},
    firstBatchMillis({ body }) {
      const { batchSize = 10_000 } = JSON.parse(body) as TruncateFields;
      const { rowsPerSecond, batchOverheadMillis } = engine.behaviour;
      return batchOverheadMillis + (batchSize / rowsPerSecond) * 1000;
    },
    async replace(invocation, previous, next) {
      const replaced = structuredClone(ledger.stored.get(next.index)) as LedgerRecord | undefined;
      // As the ledger in DynamoDB: what a newer version has taken over is not ours to write.
      if (replaced && replaced.version > LEDGER_VERSION) return false;
      const applied = await ledger.replace(previous, next);
      if (!applied) return false;
      const id = next.lastVerdict?.attemptId;
      const isNew = id !== undefined && id !== replaced?.lastVerdict?.attemptId;
      const track = isNew ? tracks.get(id) : undefined;
      const planned = replaced?.attempt?.baseline?.rowsToDelete ?? 0;
      journal.push({
        at: time.now(),
        kind: 'ledger',
        invocation,
        previous: replaced,
        next: structuredClone(next),
        ...(track && { truth: rows.truthOf(track, planned) }),
      });
      return true;
    },
  };
  return world;
}
