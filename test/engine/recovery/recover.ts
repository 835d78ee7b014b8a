import { setTimeout as wait } from 'node:timers/promises';
import type { Ended } from '../world/job.ts';
import { rowsFound } from '../world/rows.ts';
import type { World } from '../world/world.ts';
import { filled, type Request, stepsOf } from './runbook.ts';

/** The way back as a person takes it: names from the message, requests from the runbook, as it prints them. */
export interface Recovered {
  requests: number;
  problems: string[];
}

/** @param kept loaded rows that should be there */
export async function recover(world: World, { message = '' }: Ended, kept: number): Promise<Recovered> {
  const sent: string[] = [];
  const problems: string[] = [];
  try {
    await follow((request) => answerTo(world, request, sent), namesIn(message), world);
  } catch (error) {
    problems.push((error as Error).message);
  }
  const found = await rowsFound(world.client, world.alias, world.sent.at(-1)?.cutoffMillis ?? 0);
  const missing = [kept - found.kept, world.ingested - found.ingested];
  if (missing.some((rows) => rows !== 0)) {
    problems.push(`${missing[0]} rows are still missing, and ${missing[1]} ingested ones`);
  }
  return { requests: sent.length, problems };
}

/** The last step: a run releases the index. @returns what is wrong with that */
export async function release(world: World): Promise<string[]> {
  const truncates = world.sent.length;
  const { report } = await world.run({ release: ['dataset.operation'] }).ended;
  const notes = (report?.notes ?? []).map(({ kind, text }) => ({ kind, text }));
  const isReleased = notes.some(({ kind }) => kind === 'released');
  return [
    ...(isReleased ? [] : [`the index is not released: ${notes.map(({ text }) => text).join(' ')}`]),
    ...(world.sent.length === truncates ? [] : ['releasing has truncated']),
  ];
}

/** What a reader takes from a message. */
interface Names {
  ALIAS: string;
  OLD?: string;
  NEW?: string;
  CUTOFF: string;
}

function namesIn(message: string): Names {
  const [, before, now] = /\bit was (\S+) and is now (\S+)\./.exec(message) ?? [];
  const [, cutoff = ''] = /\bCutoff: [^(]*\((\d{13})\)/.exec(message) ?? [];
  const alias = now?.replace(/_\d{13}$/, '') ?? /\/_cat\/indices\/\*([^*\s]+)\*/.exec(message)?.[1];
  if (alias === undefined) throw new Error('the message names no index');
  return { ALIAS: alias, CUTOFF: cutoff, ...(before && now && { OLD: before, NEW: now }) };
}

type Ask = (request: Request) => Promise<string>;

/** Steps 2 to 9 of "Rows missing"; the first pauses the job, and the last releases the index. */
async function follow(ask: Ask, names: Names, world: World): Promise<void> {
  const steps = stepsOf('Rows missing');
  const send = async (step: number, more: Record<string, string> = {}): Promise<string[]> => {
    const answers: string[] = [];
    let task = '';
    for (const request of steps.get(step) ?? []) {
      const asked = filled(request, { ...names, ...more, TASK: task });
      const answer = request.path.includes('TASK') ? await untilCompleted(ask, asked) : await ask(asked);
      task = /"task":"([^"]+)"/.exec(answer)?.[1] ?? task;
      answers.push(answer);
    }
    if (answers.length === 0) throw new Error(`step ${step} of the runbook prints no request`);
    return answers;
  };

  const list = async () => indicesIn((await send(2))[0] ?? '').filter(({ name }) => name.startsWith(world.alias));
  if ((await list()).some(({ health }) => health === 'red')) await world.bringShardsBack();
  const indices = await list();
  if (indices.some(({ health }) => health === 'red')) throw new Error('an index stays red');
  // After a delete in place, the requests of its part: they only look. Its message names no index, the list does.
  if (names.OLD === undefined) {
    const ALIAS = indices.at(-1)?.name.replace(/_\d{13}$/, '') ?? names.ALIAS;
    const looking = [...stepsOf('Rows missing', undefined, 'After a delete in place').values()].flat();
    for (const request of looking) await ask(filled(request, { ...names, ALIAS }));
  }
  // Ingestion has not stopped in the meantime: no search has seen the last rows yet.
  await world.ingest(100);
  while (/"description":/.test((await send(3))[0] ?? '')) await wait(500);

  // Where the message names none, they are the list's youngest two, or its only one.
  const [youngest = '', second = youngest] = indices.map(({ name }) => name).reverse();
  const pair = { OLD: names.OLD ?? second, NEW: names.NEW ?? youngest };
  const settings = JSON.parse((await send(4, pair))[0] ?? '') as Record<string, Settings>;
  const [old, now] = [pair.OLD, pair.NEW].map((name) => settings[name]?.settings.index);
  if (now?.refresh_interval === '-1') await send(5, pair);
  if (pair.OLD === pair.NEW) return;

  const isShort = async (step: number) => {
    const [ofOld = 0, ofNew = 0] = (await send(step, pair))
      .map((answer) => JSON.parse(answer).count as number | undefined)
      .filter((count) => count !== undefined);
    return ofNew < ofOld;
  };
  // Copying overwrites nothing, and it brings late rows, which no count shows: it is done in any case.
  await isShort(6);
  await send(7, pair);
  // "Count again (step 6)."
  if (await isShort(6)) throw new Error('the new index still has fewer rows than the old one');
  if (Number(now?.number_of_replicas) < Number(old?.number_of_replicas)) await send(9, pair);
}

interface Settings {
  settings: { index: { refresh_interval?: string; number_of_replicas?: string } };
}

/** Of the table of step 2, the oldest first: its health, its name, and at the end when it was made. */
function indicesIn(text: string): { health: string; name: string }[] {
  const rows = text.trim().split('\n').slice(1);
  const cells = rows.map((row) => row.trim().split(/\s+/));
  cells.sort((one, other) => ((one.at(-1) ?? '') < (other.at(-1) ?? '') ? -1 : 1));
  return cells.map(([health = '', name = '']) => ({ health, name }));
}

async function untilCompleted(ask: Ask, request: Request): Promise<string> {
  for (;;) {
    const answer = await ask(request);
    const { completed, response } = JSON.parse(answer) as { completed: boolean; response?: { failures?: unknown[] } };
    if (completed && response?.failures?.length) throw new Error(`copying has failures: ${answer.slice(0, 300)}`);
    if (completed) return answer;
    await wait(200);
  }
}

/** What a console would answer. @throws Error if the search engine refuses it */
async function answerTo({ client }: World, { method, path, body }: Request, sent: string[]): Promise<string> {
  sent.push(`${method} ${path}`);
  try {
    const { body: answer } = await client.transport.request({ method, path, ...(body && { body }) });
    return typeof answer === 'string' ? answer : JSON.stringify(answer);
  } catch (error) {
    throw new Error(`${method} ${path} is refused (${(error as Error).message.slice(0, 200)})`);
  }
}
