import type { Ended } from '../world/job.ts';

import type { World } from '../world/world.ts';

/**
 * The recovery, verbatim: the requests in the message are sent to the search engine unchanged and in order. Afterwards
 * every row is there that should be, and the index can be cleared.
 */
export interface Recovered {
  requests: string[];
  /** Rows that should be there but still are not. */
  missing: { kept: number; ingested: number };
  released: boolean;
  problems: string[];
}

export async function recover(world: World, address: string, ended: Ended, keptRows: number): Promise<Recovered> {
  // Ingestion has not stopped in the meantime: no search has seen the last rows yet.
  await world.ingest(100);
  const requests = requestsIn(ended.published?.text ?? '');
  const problems = ended.published === undefined ? ['recovery: no message was published'] : [];
  for (const request of requests) {
    const refused = await send(address, request);
    if (refused !== undefined) problems.push(`recovery: ${request.split(' {')[0]} is refused (${refused})`);
  }
  const cutoffMillis = world.sent.at(-1)!.cutoffMillis;
  const there = await counted(world, cutoffMillis);
  const missing = { kept: keptRows - there.kept, ingested: world.ingested - there.ingested };
  const truncates = world.sent.length;
  const cleared = await world.run(['clear', 'dataset.operation']).ended;
  const released = /\breleased\b/i.test(cleared.said) && !/not released/i.test(cleared.said);
  return {
    requests,
    missing,
    released,
    problems: [
      ...problems,
      ...(requests.length === 0 ? ['recovery: the message prints no request'] : []),
      ...(missing.kept + missing.ingested === 0
        ? []
        : [`recovery: ${missing.kept} rows are still missing, and ${missing.ingested} ingested ones`]),
      ...(released ? [] : ['recovery: the index is not released']),
      ...(world.sent.length === truncates ? [] : ['recovery: clearing has truncated']),
    ],
  };
}

/** Rows as the job will count them: what the search finds, not what a refresh of ours would show. */
async function counted({ client, alias }: World, cutoffMillis: number) {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const count = async (filter: object[]) =>
    (await client.count({ index: alias, body: { query: { bool: { filter } } } as never })).body.count;
  return {
    kept: await count([{ term: { origin: 'loaded' } }, { range: { timestampMillis: { gt: cutoffMillis } } }]),
    ingested: await count([{ term: { origin: 'ingested' } }]),
  };
}

/** POST and PUT requests of a message, with their bodies, each once. (GET requests change nothing.) */
export function requestsIn(said: string): string[] {
  const text = said.replaceAll('\n', ' ');
  const found: string[] = [];
  for (const match of text.matchAll(/\b(?:POST|PUT) \/[^\s;,)]+/g)) {
    const head = match[0].replace(/[.:]+$/, '');
    const rest = text.slice(match.index + match[0].length).trimStart();
    const request = rest.startsWith('{') ? `${head} ${rest.slice(0, endOfObject(rest))}` : head;
    if (!found.includes(request)) found.push(request);
  }
  return found;
}

function endOfObject(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') depth++;
    else if (text[at] === '}' && --depth === 0) return at + 1;
  }
  return text.length;
}

/** @returns why the request was refused; undefined if it succeeded */
async function send(address: string, request: string): Promise<string | undefined> {
  const [, method = '', path = '', body] = /^(\S+) (\S+)(?: (\{.*))?$/.exec(request) ?? [];
  const response = await fetch(new URL(path, address), {
    method,
    ...(body !== undefined && { body, headers: { 'Content-Type': 'application/json' } }),
  });
  const text = await response.text();
  if (!response.ok) return `${response.status} ${text.slice(0, 200)}`;
  // As the message says, what follows a copy is sent once its task has ended.
  const { task } = JSON.parse(text) as { task?: string };
  while (task !== undefined) {
    const asked = await fetch(new URL(`/_tasks/${task}`, address));
    const { completed, response: done } = (await asked.json()) as {
      completed?: boolean;
      response?: { failures?: unknown[] };
    };
    if (completed) return (done?.failures ?? []).length === 0 ? undefined : 'its task has failures';
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return undefined;
}
