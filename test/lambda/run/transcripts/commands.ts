import { readFileSync } from 'node:fs';
import { parseRecord } from '../../../../lambda/ledger/record.ts';
import { anIndex } from '../../../support/records.ts';
import { anIndexOf } from '../../../support/stand-in.ts';
import type { WorldOptions } from '../../../support/world.ts';
import { aPolicyFor, type Interruption, type Point, type Run, type World } from '../../../support/world.ts';
import { journalled, namer, recordText } from './journal.ts';
import { played, type Recording } from './played.ts';
import { type Command, commandOf, runsIn } from './script.ts';

/** The commands of a transcript, as README.md lists them. */

const name = 'dataset.operation';
const day = 86_400_000;
const hour = 3_600_000;

type Act = (command: Command) => Promise<string[]>;

/** @param open creates worlds, and closes them when the test ends */
export function player(open: (options: WorldOptions) => Promise<World>): Act {
  let stage: Stage | undefined;
  return async (command) => {
    if (command.name === 'deploy') {
      stage = await deployed(command, open);
      return [];
    }
    if (!stage) throw new Error('a transcript begins with "deploy"');
    const lines = (await act(command, stage)).map(stage.named);
    return printedIn(command.options['as']).includes(lines.join('\n')) ? [] : lines;
  };
}

/** What `run … as=FILE` leaves out, if it says the same: the runs of that file. */
const printedIn = (file: string | undefined): string[] =>
  file === undefined ? [] : runsIn(readFileSync(new URL(`./histories/${file}`, import.meta.url), 'utf8'));

interface Stage {
  world: World;
  recording: Recording;
  /** Truncates that were sent, as the client says. */
  sent: { count: number };
  named: (text: string) => string;
  /** By name, for `thaw` and `redrive`. */
  runs: Map<string, Run>;
  /** Requests that `refuse` has refused. */
  refused: number;
}

async function deployed({ words, options }: Command, open: (options: WorldOptions) => Promise<World>): Promise<Stage> {
  const { old = '600', fresh = '400', policy, settings, speed, faults, profile, second, third, unmanaged } = options;
  const more = parsed(policy);
  const others = [
    [second, 'datasetProfile'],
    [third, 'datasetUsageStatistics'],
  ].flatMap(([rows, aspect]) => (rows && aspect ? [{ rows: rows.split('/').map(Number), aspect }] : []));
  const recording: Recording = { start: 0, sizes: '', say: () => {} };
  const sent = { count: 0 };
  const world = await open({
    indices: [
      anIndexOf(Number(old), Number(fresh)),
      ...others.map(({ rows: [past = 0, kept = 0], aspect }) => anIndexOf(past, kept, { aspect })),
      ...(unmanaged?.split(/[.:,]/) ?? []).flatMap((entityType, at, [, ...next]) =>
        at % 3 === 0 ? [{ entityType, aspect: next[at] ?? '', rows: Number(next[at + 1]), days: 10 }] : [],
      ),
    ],
    policies: ['operation', ...others.map(({ aspect }) => aspect)].map((aspect) => aPolicyFor(aspect, more)),
    settings: parsed(settings),
    faults: faults?.split(',').map((fault) => fault.replace(':', '=')) ?? [],
    ...(profile && { profile: profile as NonNullable<WorldOptions['profile']> }),
    ...(words.includes('impatient') && { patienceMillis: 400 }),
    observe: (services) =>
      journalled(
        services,
        () => recording.start,
        (line) => {
          if (/^TRUNCATE (?!.*: NOT SENT)/.test(line)) sent.count++;
          recording.say(line);
        },
      ),
  });
  if (speed) world.standIn.set({ rowsPerSecond: Number(speed), batchOverheadMillis: 0 });
  const named = namer();
  recording.sizes = `sizes: ${world.standIn
    .indices()
    .map((one) => one.name)
    .join(', ')}`;
  named(recording.sizes);
  return { world, recording, sent, named, runs: new Map(), refused: 0 };
}

const parsed = (text: string | undefined): Record<string, unknown> => (text ? JSON.parse(text) : {});

async function run(command: Command, stage: Stage): Promise<string[]> {
  const { world, recording } = stage;
  const { words, options } = command;
  const { approve, accept, input } = options;
  const given = {
    ...(words.includes('preview') && { mode: 'preview' }),
    ...(!words.includes('preview') && (words.includes('only') || approve) && { mode: 'enforce' }),
    ...((words.includes('only') || approve) && { indices: [name] }),
    ...(approve && { approveRows: Number(approve) }),
    ...(words.includes('release') && { release: [name] }),
    ...(accept && { acceptMissing: Number(accept) }),
    ...parsed(input),
  };
  const byHand = words.includes('by-hand') || Object.keys(given).length > 0;
  const interruption = interruptionOf(command, stage);
  const inFull = words.includes('in-full');
  const playing = { name: options['name'], input: given, byHand, interruption, inFull };
  const [ran, lines] = await played(world, recording, playing);
  stage.runs.set(ran.name, ran);
  return lines;
}

function interruptionOf({ options, inner }: Command, stage: Stage): Interruption | undefined {
  const meanwhile = async (): Promise<void> => {
    if (!inner) return;
    const outer = stage.recording.say;
    const lines = await act(commandOf(inner), stage);
    outer(`MEANWHILE ${inner}`);
    for (const line of lines) outer(`| ${line}`);
  };
  for (const does of ['dies', 'hangs', 'stops'] as const) {
    const point = options[`${does}-at`];
    if (point) return { at: point as Point, does, meanwhile };
  }
  const { at } = options;
  return at ? { at: at as Point, does: meanwhile } : undefined;
}

function ranBefore({ words: [which = ''] }: Command, { runs }: Stage): Run {
  const found = runs.get(which);
  if (!found) throw new Error(`no run is called ${which}`);
  return found;
}

const ofWorld = new Set([
  'record-gone',
  'record-without',
  'record-with',
  'server',
  'ledger',
  'people',
  'address',
  'paused',
  'policy',
]);

/** `after SECONDS COMMAND`: executed when this much of the next run has passed. */
function after({ words: [seconds = '', command = '', ...words], options }: Command, stage: Stage): void {
  const { clock, standIn } = stage.world;
  const at = clock.time + Number(seconds) * 1000;
  const doIt = () => void act({ name: command, words, options }, stage);
  // The stand-in knows no time while nobody asks it.
  if (ofWorld.has(command)) stage.world.agenda.push({ at, act: doIt });
  else standIn.schedule(at, doIt);
}

function lose({ words, options }: Command, { clock, standIn }: World): void {
  const cutoff = clock.time - 30 * day;
  const left = { old: Number(options['old'] ?? 0), fresh: Number(options['fresh'] ?? 0) };
  standIn.removeRows(name, ({ timestamp }) => {
    const kind = timestamp > cutoff ? 'fresh' : 'old';
    return words.includes('all') || left[kind]-- > 0;
  });
}

function proxy({ options }: Command, { standIn }: World): void {
  const { answers = '504', acts = 'never' } = options;
  const answer =
    answers === 'nothing'
      ? ({ kind: 'no-answer' } as const)
      : answers === 'reset'
        ? ({ kind: 'reset' } as const)
        : ({ kind: 'status', status: Number(answers), body: 'upstream says no' } as const);
  standIn.between(({ body }) => {
    if (!body.includes('"dryRun":false')) return undefined;
    if (acts === 'never') return { kind: 'fail-before', answer };
    return { kind: 'act-then', answer, actsAfterMillis: acts === 'at-once' ? 0 : Number(acts) * 1000 };
  });
}

/** The first `skip` requests pass, then `times` are refused, and none before `from` seconds have passed. */
function refuse({ words: [what = ''], options }: Command, stage: Stage): void {
  const { clock, standIn } = stage.world;
  const { with: status = '400', value, says: message, skip = 0, times = Number.POSITIVE_INFINITY, from = 0 } = options;
  const since = clock.time + Number(from) * 1000;
  let asked = 0;
  standIn.between(({ body, path }) => {
    if (clock.time < since || !(body.includes(what) || path.includes(what))) return undefined;
    asked++;
    if (asked <= Number(skip) || asked > Number(skip) + Number(times)) return undefined;
    stage.refused++;
    if (status === 'nothing') return { kind: 'fail-before', answer: { kind: 'no-answer' } };
    const text = value || message ? JSON.stringify({ value, message }) : undefined;
    return { kind: 'fail-before', answer: { kind: 'status', status: Number(status), ...(text && { body: text }) } };
  });
}

const switched = (word: string, on: string, off: string): boolean => {
  if (word !== on && word !== off) throw new Error(`${on} or ${off}, not ${word}`);
  return word === on;
};

/** @returns lines to show, or anything else for none */
type Play = (command: Command, stage: Stage, word: string) => unknown;

const commands: Record<string, Play> = {
  run,
  after,
  refuse,
  refused: (_, { refused }) => [`${refused} requests refused so far`],
  proxy: (command, { world }) => proxy(command, world),
  lose: (command, { world }) => lose(command, world),
  'no-proxy': (_, { world }) => world.standIn.between(undefined),
  async thaw(command, stage) {
    const lines: string[] = [];
    const outer = stage.recording.say;
    const ran = ranBefore(command, stage);
    Object.assign(stage.recording, { start: ran.startedAt, say: (line: string) => void lines.push(`  ${line}`) });
    await ran.thaw();
    stage.recording.say = outer;
    return lines.length > 0 ? lines : ['  does nothing more'];
  },
  async redrive(command, stage) {
    const from = ranBefore(command, stage);
    const [ran, lines] = await played(stage.world, stage.recording, { input: {}, byHand: from.byHand }, from);
    stage.runs.set(ran.name, ran);
    return lines;
  },
  hours: (_, { world }, word) => {
    world.clock.time += Number(word) * hour;
  },
  days: (_, { world }, word) => {
    world.clock.time += Number(word) * day;
  },
  seconds: (_, { world }, word) => {
    world.clock.time += Number(word) * 1000;
  },
  'seconds-unseen': (_, { world }, word) => {
    world.clock.unseen += Number(word) * 1000;
  },
  millis: (_, { world }, word) => {
    world.clock.time += Number(word);
  },
  mode: (_, { world }, word) => {
    world.settings.mode = switched(word, 'enforce', 'preview') ? 'enforce' : 'preview';
  },
  paused: (_, { world }, word) => {
    world.parameters.paused = word === 'unreadable' ? undefined : switched(word, 'on', 'off');
  },
  policy({ words: [word, text], options: more }, { world }) {
    const [first, ...others] = (world.parameters.policies ?? []) as object[];
    if (word === 'unreadable') world.parameters.policies = undefined;
    else if (word === 'gone') world.parameters.policies = others;
    else if (word === 'twice') world.parameters.policies = [first, first, ...others];
    else world.parameters.policies = [{ ...first, ...parsed(more['with'] ?? text) }, ...others];
  },
  'many-policies': (_, { world }, word) => {
    world.parameters.policies = Array.from({ length: Number(word) }, (_, at) => aPolicyFor(`aspect${at}`));
  },
  server: (_, { world }, word) => {
    world.reach.server = switched(word, 'back', 'away');
  },
  ledger: (_, { world }, word) => {
    const moods = {
      back: true,
      away: false,
      unheard: 'unheard',
      doubtful: 'doubtful',
      contested: 'contested',
    } as const;
    world.reach.ledger = moods[word as keyof typeof moods];
  },
  people: (_, { world }, word) => {
    world.reach.people = switched(word, 'back', 'away');
  },
  address: (_, { world }, word) => {
    world.settings.gmsUrl = word;
  },
  'record-without'(_, { world: { ledger } }, word) {
    const { [word]: _gone, ...record } = ledger.stored.get(anIndex) as Record<string, unknown>;
    ledger.stored.set(anIndex, record);
  },
  'record-with'({ words: [fields] }, { world: { ledger } }) {
    ledger.stored.set(anIndex, { ...(ledger.stored.get(anIndex) as object), ...parsed(fields) });
  },
  slow: (_, { world: { standIn, clock } }, word) => {
    standIn.between(() => {
      clock.time += Number(word) * 1000;
      return undefined;
    });
  },
  fault: (_, { world }, word) => world.standIn.fault(word.replace(':', '=')),
  'deletes-always': (_, { world }) => world.standIn.set({ mode: 'always-delete' }),
  mend: (_, { world }) => world.standIn.mend(),
  come({ options }, { world: { standIn, clock } }) {
    const { old = '0', fresh = '0', new: now = '0', days } = options;
    standIn.addRows(name, [
      ...Array(Number(old)).fill(clock.time - Number(days ?? 40) * day),
      ...Array(Number(fresh)).fill(clock.time - 25 * hour),
      ...Array(Number(now)).fill(clock.time),
    ]);
  },
  'datahub-gc': (_, { world }) => world.standIn.runGc(),
  replaced: (_, { world }) => world.standIn.replaceIndex(name),
  'upgrade-for': ({ words: [seconds] }, { world: { standIn, clock } }) => {
    const swap = standIn.beginUpgrade(name);
    standIn.schedule(clock.time + Number(seconds) * 1000, swap);
  },
  'index-gone': (_, { world }) => world.standIn.deleteIndex(name),
  'restart-node': (_, { world }) => world.standIn.restartNode(),
  refreshing: (_, { world }, word) => world.standIn.refreshing(name, switched(word, 'on', 'off')),
  shard: (_, { world }, word) => world.standIn.shardAway(name, switched(word, 'back', 'away') ? undefined : 4),
  rows(_, { world: { standIn, clock } }) {
    const rows = standIn.rows(name);
    const old = rows.filter(({ timestamp }) => timestamp <= clock.time - 30 * day).length;
    return [`${rows.length} rows, ${old} older than 30 days`];
  },
  record(_, { world: { ledger } }) {
    const stored = ledger.stored.get(anIndex);
    const parsed = stored === undefined ? undefined : parseRecord(anIndex, stored);
    if (!parsed || parsed.state === 'unreadable') return [parsed?.state ?? 'no record'];
    return [`${recordText(parsed)}; last sender ${parsed.lastSender.runId}`.replace(/, last sender.*;/, ';')];
  },
  'record-gone': (_, { world: { ledger } }) => void ledger.stored.delete(anIndex),
};

async function act(command: Command, stage: Stage): Promise<string[]> {
  const known = commands[command.name];
  if (!known) throw new Error(`no command is called ${command.name}`);
  const lines = await known(command, stage, command.words[0] ?? '');
  const { length } = stage.world.realTruncates();
  if (length !== stage.sent.count) throw new Error(`${stage.sent.count} truncates were sent, and ${length} arrived`);
  return Array.isArray(lines) ? lines : [];
}
