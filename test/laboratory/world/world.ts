import type { Reply } from '../../operations-service/simulation/exchange.ts';
import type { SampleIndex } from '../../../cli/operations-service/samples.ts';
import type { Report } from '../../../lambda/facts/report-schema.ts';
import type { Ledger } from '../../../lambda/ledger/ledger.ts';
import { isUnresolved, LEDGER_VERSION, type LedgerRecord, type StoredRecord } from '../../../lambda/ledger/record.ts';
import { composeMessage, publishedBytes } from '../../../lambda/notification/message.ts';
import { isQuiet } from '../../../lambda/notification/quiet.ts';
import type { Exchange } from '../../../lambda/operations/http/transport.ts';
import type { TruncateFields } from '../../../lambda/operations/operations.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { PolicySource } from '../../../lambda/policy/parse.ts';
import type { Log, RunSettings } from '../../../lambda/run/services.ts';
import type { ProfileName } from '../../operations-service/profiles.ts';
import { calm, type Weather } from '../alphabet/weather.ts';
import { isGone, type Remembered, remember } from '../truth/gone.ts';
import type { ClockTruth, Track } from '../truth/track.ts';
import { type Chances, createChances } from './chances.ts';
import type { Clocks } from './clocks.ts';
import type { Invocation } from './invocation.ts';
import type { InvocationInfo, JournalEvent } from './journal.ts';
import { createLedger, type LaboratoryLedger, type LedgerKind } from './ledgers.ts';
import { createServer, type Server } from './servers.ts';
import { createVirtualTime, type VirtualTime } from './virtual-time.ts';

/**
 * Everything in one history: servers, a ledger, an operator's parameters, clocks, and the journal of what happens to
 * them.
 */
export interface World {
  time: VirtualTime;
  chances: Chances;
  clocks: Clocks;
  ledger: LaboratoryLedger;
  journal: JournalEvent[];
  log: Log;
  /** Letters of the alphabet that occurred, by name. */
  faults: Map<string, number>;
  /** Bugs in the program: errors that are not of its own kinds. */
  defects: string[];
  /** The server behind the address, possibly another one that was put there. */
  front: Server;
  /** All servers that were ever there, the right one first. */
  servers: [Server, ...Server[]];
  weather: Weather;
  /** From the deployment; an execution by hand may have its own. */
  settings: RunSettings;
  policies: readonly PolicySource[];
  /** The token that the server accepts, and the one that the operator has stored. */
  token: { valid: string; given: string };
  paused(): boolean;
  setPaused(paused: boolean): void;
  nextInvocation(): number;
  newId(): string;
  injected(letter: string): void;
  /** Something that people or logs see: it must not contain the token. */
  show(where: string, text: string): void;
  threw(invocation: Invocation, error: Error): void;
  publish(invocation: InvocationInfo, report: Report): void;
  handle(exchange: Exchange): Reply;
  readAnswered(invocation: InvocationInfo, exchange: Exchange, reply: Reply, countedAt: number): void;
  sent(invocation: InvocationInfo, exchange: Exchange): Track;
  /** What was there when the last verdict was written, by search index. */
  remembered: Map<string, Remembered>;
  /** Called for each real truncate. */
  onSent: (track: Track) => void;
  /** Called just before the server acts on a real truncate. */
  onActing: (track: Track) => void;
  /** Rows arrive behind an alias. */
  arrive(name: string, timestamps: number[]): void;
  /** Another process acts on one index of the real server, or on all of them if no name is given. */
  others(name: string | undefined, what: string, act: () => void): void;
  replace(
    invocation: InvocationInfo,
    ledger: Ledger,
    previous: StoredRecord | undefined,
    next: LedgerRecord,
  ): Promise<boolean>;
}

export interface WorldOptions {
  seed: number;
  start: number;
  profile: ProfileName;
  indices: readonly SampleIndex[];
  policies: readonly PolicySource[];
  settings: RunSettings;
  ledger?: LedgerKind;
  /** From the deployment: which reports its subscribers get. */
  notify?: 'always' | 'problems';
}

/** What the program throws on purpose; anything else is a bug. */
const ownErrors = new Set(['LedgerError', 'ParametersError', 'OperationsError', 'PublishError', 'StateUnreadable']);
/** The steps' own messages for errors that the workflow retries, or passes to Poll. */
const ownMessages = /kept changing|was invoked twice/;

export function createWorld(options: WorldOptions): World {
  const { seed, start, profile, indices, policies, settings, ledger: kind, notify = 'problems' } = options;
  const time = createVirtualTime(start);
  const first = createServer({ seed, profile, indices, now: time.now });
  const ledger = createLedger(kind ?? 'memory');
  const journal: JournalEvent[] = [];
  const tracks = new Map<string, { track: Track; server: Server }>();
  const tokens = new Set<string>();
  let paused = false;
  let invocations = 0;
  let ids = 0;
  const logged = (message: string, fields: object = {}) => world.show('log', `${message} ${JSON.stringify(fields)}`);

  const world: World = {
    time,
    chances: createChances(seed),
    clocks: { functions: 0, starts: 0 },
    ledger,
    journal,
    log: { info: logged, warn: logged, error: logged },
    faults: new Map(),
    defects: [],
    front: first,
    servers: [first],
    weather: calm,
    settings,
    policies,
    token: { valid: first.engine.token, given: first.engine.token },
    paused: () => paused,
    setPaused(next) {
      if (next !== paused) journal.push({ at: time.now(), kind: 'paused', paused: next });
      paused = next;
    },
    nextInvocation: () => ++invocations,
    newId: () => `id-${++ids}`,
    injected: (letter) => world.faults.set(letter, (world.faults.get(letter) ?? 0) + 1),
    show(where, text) {
      for (const token of [world.token.valid, world.token.given]) tokens.add(token);
      for (const token of tokens) if (text.includes(token)) journal.push({ at: time.now(), kind: 'shown', where });
    },
    threw(invocation, error) {
      const isOwn = error.name === 'Error' ? ownMessages.test(error.message) : ownErrors.has(error.name);
      if (!isOwn) world.defects.push(`${invocation.step}: ${error.stack ?? error.message}`);
    },
    publish({ runId, runStartMillis }, report) {
      const message = composeMessage(report, { secrets: [world.token.given] });
      world.show('report', JSON.stringify(report));
      world.show('message', message.email + message.https);
      const bytes = publishedBytes(message);
      journal.push({
        at: time.now(),
        kind: 'published',
        runId,
        runStartMillis,
        report: structuredClone(report),
        bytes,
        told: notify === 'always' || !isQuiet(report),
      });
    },
    handle: (exchange) => world.front.handle(exchange, world.token.valid),
    readAnswered(invocation, exchange, reply, countedAt) {
      const times = { at: time.now(), countedAt, wall: time.now() + world.clocks.functions };
      journal.push(readEvent(invocation, exchange, reply, times));
    },
    sent(invocation, { body }) {
      const fields = JSON.parse(body) as TruncateFields & { dryRun: false };
      const index = searchIndex(fields);
      const record = recordOf(ledger.records.get(index));
      const own = record && isUnresolved(record) && record.attempt.runId === invocation.runId ? record : undefined;
      const track: Track = {
        index,
        name: world.front.nameOf(index),
        server: world.servers.indexOf(world.front),
        attemptId: own?.attemptId,
        runId: invocation.runId,
        runStartMillis: invocation.runStartMillis,
        cutoffMillis: fields.endTimeMillis,
        sentAt: time.now(),
      };
      if (own) tracks.set(own.attemptId, { track, server: world.front });
      const { truth, engine } = world.front;
      truth.sending(track);
      world.onSent(track);
      journal.push({
        at: time.now(),
        kind: 'truncate',
        invocation,
        index,
        fields,
        record,
        track,
        wall: time.now() + world.clocks.functions,
        gone: isGone(world, index, track.cutoffMillis),
        copying: truth.copyingInto(track.name) !== undefined,
        physical: engine.indices().find((view) => view.index?.toLowerCase() === track.name)?.name,
      });
      return track;
    },
    remembered: new Map(),
    onSent: () => {},
    onActing: () => {},
    arrive(name, timestamps) {
      const { engine } = first;
      if (engine.indices().some(({ index }) => index?.toLowerCase() === name)) engine.addRows(name, timestamps);
    },
    others(name, what, act) {
      journal.push({ at: time.now(), kind: 'others', index: name, what });
      if (name === undefined) act();
      else first.truth.others(name, act);
    },
    async replace(invocation, opened, previous, next) {
      const replaced = structuredClone(ledger.records.get(next.index)) as StoredRecord | undefined;
      if (!(await opened.replace(previous, next))) return false;
      const before = replaced && recordOf(replaced);
      const known = before?.attemptId === undefined ? undefined : tracks.get(before.attemptId);
      // Every version keeps its windows.
      const windows = (replaced as LedgerRecord | undefined)?.windows ?? next.windows ?? [];
      const name = world.front.nameOf(next.index);
      const seen = world.front.truth.truthOf(known?.track, windows, name);
      // A truncate on a server that is no longer behind the address: its rows are there, but counts are from here.
      const isElsewhere = known !== undefined && known.server !== world.front;
      const truth = isElsewhere
        ? {
            ...known.server.truth.truthOf(known.track, [], name),
            windows: seen.windows,
            unrefreshed: seen.unrefreshed,
          }
        : seen;
      const decided = next.lastVerdict?.attemptId;
      if (decided !== undefined && decided !== before?.lastVerdict?.attemptId) {
        remember(world, world.remembered, next, decided);
      }
      journal.push({
        at: time.now(),
        kind: 'ledger',
        invocation,
        previous: replaced,
        next: structuredClone(next),
        truth: { ...truth, ...clockTruth(world), isElsewhere },
      });
      return true;
    },
  };
  return world;
}

const maxSkewMillis = 600_000;

/** docs/testing.md, `two-wrong-clocks` and `clock-across-looks`. */
function clockTruth({ clocks, front: { engine } }: World): ClockTruth {
  const { dateHeader, clockSkewSeconds } = engine.behaviour;
  const isShown = dateHeader && Math.abs(clocks.functions - clockSkewSeconds * 1000) > maxSkewMillis;
  const clockWrong = Math.abs(clocks.functions) > maxSkewMillis;
  const aheadMillis = clockWrong ? 0 : Math.max(0, clocks.functions);
  return { clockWrong, deceived: clockWrong && !isShown, aheadMillis };
}

/** The record, if it is one of ours. */
function recordOf(stored: unknown): LedgerRecord | undefined {
  const record = stored as LedgerRecord | undefined;
  return record?.version === LEDGER_VERSION ? structuredClone(record) : undefined;
}

function readEvent(
  invocation: InvocationInfo,
  { url, body }: Exchange,
  reply: Reply,
  { at, ...times }: { at: number; countedAt: number; wall: number },
): JournalEvent {
  const action = new URL(url).searchParams.get('action') ?? '';
  const { dryRun, task, ...fields } = JSON.parse(body) as TruncateFields & { dryRun?: boolean; task?: string };
  if (action !== 'truncateTimeseriesAspect' || reply.kind !== 'reply' || reply.status !== 200) {
    const status = reply.kind === 'reply' ? { status: reply.status, tells: reply.body.includes('completed') } : {};
    const deleted = reply.kind === 'reply' ? /deleted[\\"]*:(\d+)/.exec(reply.body)?.[1] : undefined;
    const { countedAt } = times;
    return {
      at,
      kind: 'read',
      invocation,
      countedAt,
      action,
      ...status,
      ...(task !== undefined && { task }),
      ...(deleted !== undefined && { deleted: Number(deleted) }),
    };
  }
  if (dryRun !== true) throw new Error('a read that is no dry run');
  const sentence = String((JSON.parse(reply.body) as { value: unknown }).value);
  const date = Date.parse(reply.headers['Date'] ?? '');
  const clock = Number.isNaN(date) ? {} : { date };
  return { at, kind: 'dry-run', invocation, fields, sentence, ...times, ...clock };
}
