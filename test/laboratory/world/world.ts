import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import { reportMetrics, runMetrics } from '../../../lambda/aws/metrics.ts';
import type { TruncateFields } from '../../../lambda/gms/operations.ts';
import { isUnresolved, parseRecord, type StoredRecord, type Unresolved } from '../../../lambda/ledger/record.ts';
import type { Report } from '../../../lambda/model/report-schema.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { PolicyText } from '../../../lambda/policy/parse.ts';
import type { Log, RunSettings } from '../../../lambda/run/services.ts';
import { calm, type Weather } from '../alphabet/weather.ts';
import { createTracker, nothingLost, type Track, type Tracker } from '../truth/track.ts';
import { type Chances, createChances } from './chances.ts';
import { createEngine } from './engine.ts';
import type { Event, InvocationInfo, JournalEvent, Truth } from './journal.ts';
import { unreportedOf } from './records.ts';
import { createServer, type Server } from './server.ts';
import { createVirtualTime, type VirtualTime } from './virtual-time.ts';

/** Everything in one history: a server, a ledger, an operator's parameters, and the journal of what happens to them. */
export interface World {
  time: VirtualTime;
  chances: Chances;
  server: Server;
  tracker: Tracker;
  ledger: ReturnType<typeof memoryLedger>;
  journal: JournalEvent[];
  log: Log;
  /** Letters of the alphabet that occurred, by name. */
  faults: Map<string, number>;
  /** Bugs in the program: errors that are not of its own kinds. */
  defects: string[];
  weather: Weather;
  /** From the deployment; an execution by hand may have its own. */
  settings: RunSettings;
  policies: readonly PolicyText[];
  /** Which reports subscribers get. */
  notify: 'always' | 'problems';
  paused: boolean;
  /** The topic takes no message. */
  isMute: boolean;
  /** The ledger takes no write: its disk is full. */
  isFull: boolean;
  nextInvocation(): number;
  injected(letter: string): void;
  threw(step: string, error: Error): void;
  published(invocation: InvocationInfo, report: Report, isDelivered: boolean, confirmed: boolean): void;
  counted(invocation: InvocationInfo, report: Report): void;
  /** A real truncate leaves a function. */
  sent(invocation: InvocationInfo, fields: TruncateFields): Track;
  /** Called for each real truncate. */
  onSent: (track: Track) => void;
  /** Called after each report that is published. */
  onPublished: (runId: string) => void;
  /** Called after each write to the ledger. */
  onWritten: (written: Event<'ledger'>) => void;
  /** Called just before the server acts on a real truncate. */
  onActing: (track: Track) => void;
  /** The server acts on a truncate later than it was asked to. */
  actLater: (at: number, act: () => void) => void;
  /** Another process acts on an index. */
  others(index: string, what: string, act: () => void): void;
  /** Writes to the ledger as a function does. */
  replace(invocation: InvocationInfo, next: StoredRecord): Promise<boolean>;
  stored(index: string): StoredRecord | undefined;
}

/** What the program throws on purpose; anything else is a bug. */
const ownErrors = new Set(['LedgerError', 'ParametersError', 'OperationsError', 'PublishError', 'StateUnreadable']);
/** The steps' own messages for errors that the workflow retries, or passes to Poll. */
const ownMessages = /kept changing|invoked twice|another version/;

export interface WorldOptions {
  seed: number;
  start: number;
  settings: RunSettings;
  policies: readonly PolicyText[];
  notify?: World['notify'];
}

export function createWorld({ seed, start, settings, policies, notify = 'always' }: WorldOptions): World {
  const time = createVirtualTime(start);
  const chances = createChances(seed);
  const engine = createEngine(time, chances.fork());
  const server = createServer(engine, time);
  const tracker = createTracker(engine);
  const ledger = memoryLedger();
  const journal: JournalEvent[] = [];
  const silent = () => {};
  const known = new WeakMap<object, StoredRecord>();
  let invocations = 0;

  const world: World = {
    time,
    chances,
    server,
    tracker,
    ledger,
    journal,
    log: { info: silent, warn: silent, error: silent },
    faults: new Map(),
    defects: [],
    weather: calm,
    settings,
    policies,
    notify,
    onSent: silent,
    onPublished: silent,
    onWritten: silent,
    onActing: silent,
    actLater: time.at,
    paused: false,
    isMute: false,
    isFull: false,
    nextInvocation: () => ++invocations,
    injected: (letter) => world.faults.set(letter, (world.faults.get(letter) ?? 0) + 1),
    threw(step, error) {
      const isOwn = error.name === 'Error' ? ownMessages.test(error.message) : ownErrors.has(error.name);
      if (!isOwn) world.defects.push(`${step}: ${error.stack ?? error.message}`);
    },
    published({ runId, runStartMillis }, report, isDelivered, confirmed) {
      const copy = structuredClone(report);
      journal.push({ at: time.now(), kind: 'published', runId, runStartMillis, report: copy, isDelivered, confirmed });
      world.onPublished(runId);
    },
    counted({ runId, runStartMillis }, report) {
      const isLoss = report.policies.some(({ outcome }) => outcome === 'rows-missing');
      const rowsMissing = (isLoss ? reportMetrics(report) : [])
        .map((line) => Number(JSON.parse(line)[runMetrics.rowsMissing] ?? 0))
        .reduce((sum, missing) => sum + missing, 0);
      journal.push({ at: time.now(), kind: 'counted', runId, runStartMillis, rowsMissing });
    },
    sent(invocation, fields) {
      const index = searchIndex(fields);
      const { runId, runStartMillis } = invocation;
      const beside = tracker.tracks.filter((one) => one.index === index && one.owed && tracker.isAtWork(one));
      const track: Track = { index, runId, runStartMillis, cutoffMillis: fields.cutoffMillis, sentAt: time.now() };
      tracker.tracks.push(track);
      world.onSent(track);
      const record = world.stored(index);
      journal.push({
        at: time.now(),
        kind: 'truncate',
        invocation,
        index,
        fields: { ...fields },
        record,
        track,
        beside,
      });
      return track;
    },
    others(index, what, act) {
      journal.push({ at: time.now(), kind: 'others', index, what });
      act();
    },
    async replace(invocation, next) {
      const stored = ledger.stored.get(next.index) as object | undefined;
      const previous = world.stored(next.index);
      if (!(await ledger.replace(next))) return false;
      const truth = truthOf(world, previous);
      const written = {
        at: time.now(),
        kind: 'ledger',
        invocation,
        previous,
        stored,
        next: structuredClone(next),
        truth,
      } as const;
      journal.push(written);
      world.onWritten(written);
      return true;
    },
    stored(index) {
      const stored = ledger.stored.get(index) as object | undefined;
      if (stored === undefined) return undefined;
      const parsed = known.get(stored) ?? parseRecord(index, structuredClone(stored));
      known.set(stored, parsed);
      return parsed;
    },
  };
  return world;
}

/** The truth about the truncation that a record holds. */
function truthOf({ server: { engine }, tracker }: World, record: StoredRecord | undefined): Truth {
  const physical = record && engine.behind(record.index);
  const found = physical ? engine.found(physical) : [];
  const countIn = (after: number, until: number) =>
    found.filter(({ timestamp }) => timestamp > after && timestamp <= until).length;
  const none: Truth = { oldFound: 0, loss: nothingLost, isAtWork: false, indexName: physical?.name };
  const attempt = record && 'attempt' in record ? record.attempt : undefined;
  if (!record || !attempt) return none;
  const { policyCutoffMillis, baseline, fields } = attempt;
  const track = trackOf(tracker, record.index, attempt);
  return {
    ...none,
    oldFound: countIn(Number.NEGATIVE_INFINITY, fields.cutoffMillis),
    window: { expected: baseline.rowsToKeep, found: countIn(policyCutoffMillis, baseline.countedAtMillis) },
    loss: track ? tracker.lossOf(track) : nothingLost,
    isAtWork: track !== undefined && tracker.isAtWork(track),
  };
}

/** The truncate of an attempt, if it was sent. */
export const trackOf = (
  { tracks }: Pick<Tracker, 'tracks'>,
  index: string,
  { runId, runStartMillis }: { runId: string; runStartMillis: number },
): Track | undefined =>
  tracks.find((track) => track.index === index && track.runId === runId && track.runStartMillis === runStartMillis);

const recordsIn = (world: World): StoredRecord[] =>
  [...world.ledger.stored.keys()].flatMap((index) => world.stored(index) ?? []);

/** Records in which a truncation is unresolved. */
export const unresolvedIn = (world: World): Unresolved[] => recordsIn(world).filter(isUnresolved);

export const unreportedIn = (world: World): StoredRecord[] => recordsIn(world).filter(unreportedOf);
