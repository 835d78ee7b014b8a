import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { indexKey, Rows } from './rows.ts';
import { type SampleIndex, sampleIndices } from './samples.ts';
import { dryRunSentence, statusError } from './sentences.ts';
import { defaultProfile, type ServerProfile } from './server-profile.ts';
import { Tasks } from './tasks.ts';

/**
 * The operations service as its specification describes it, and nothing more (docs/operations-service.md), on 127.0.0.1
 * only and without timers, so that weeks of a virtual clock pass in milliseconds.
 */

interface ServiceOptions {
  /** How the specification is read; what is left out is as usual. */
  profile?: Partial<ServerProfile>;
  /** Epoch milliseconds; default: real time. */
  clock?: { now(): number };
  /** Default: the sample indices. */
  indices?: readonly SampleIndex[];
  /** Default: any free one. */
  port?: number;
}

interface OperationsService {
  /** `http://127.0.0.1:<port>`; `/operations` and `/gms/operations` are below it. */
  url: string;
  token: string;
  /** Every request, oldest first, without its headers (they contain the token). */
  requests: ReadonlyArray<{ action: string; body: unknown }>;
  /** The rows of one index as they are now; undefined if there is none. */
  rows(entityType: string, aspect: string): Rows | undefined;
  close(): Promise<void>;
}

interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A real server does not send it: the rows are expendable, so that a run may shorten its waits. */
const sampleHeaders = { 'X-Sample-Data': 'true' };

export async function startOperationsService(options: ServiceOptions = {}): Promise<OperationsService> {
  const { clock = { now: () => Date.now() }, indices = sampleIndices(), port = 0 } = options;
  const world: World = {
    profile: { ...defaultProfile, ...options.profile },
    stored: new Map(indices.map((index) => [indexKey(index.entityType, index.aspect), new Rows(index, clock.now())])),
    tasks: new Tasks(),
    // Unguessable: others may use this machine, too.
    token: randomBytes(24).toString('base64url'),
    now: () => clock.now(),
  };
  const requests: Array<{ action: string; body: unknown }> = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://service');
    const action = url.searchParams.get('action') ?? '';
    const body = parsed(await textOf(request));
    world.tasks.advance(clock.now());
    requests.push({ action, body });
    const reply = answer(world, request, url.pathname, action, body);
    const date = new Date(clock.now()).toUTCString();
    response.writeHead(reply.status, { ...reply.headers, ...sampleHeaders, Date: date }).end(reply.body);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: world.token,
    requests,
    rows(entityType, aspect) {
      world.tasks.advance(clock.now());
      return world.stored.get(indexKey(entityType, aspect));
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface World {
  profile: ServerProfile;
  stored: ReadonlyMap<string, Rows>;
  tasks: Tasks;
  token: string;
  now(): number;
}

function answer(
  world: World,
  { method, headers }: IncomingMessage,
  pathname: string,
  action: string,
  body: unknown,
): Reply {
  if (!world.profile.prefixes.some((prefix) => pathname === `${prefix}/operations`)) {
    return failure(404, `there is nothing at ${pathname}`);
  }
  if (method !== 'POST') return failure(405, `${method} is not a way to ask for an operation: use POST`);
  if (world.profile.needsToken && headers.authorization !== `Bearer ${world.token}`) {
    return failure(401, 'this token is not accepted');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return failure(400, 'the body is not a JSON object');
  }
  const fields = body as Record<string, unknown>;
  switch (action) {
    case 'truncateTimeseriesAspect':
      return truncate(world, fields);
    case 'getEsTaskStatus':
      return taskStatus(world, fields);
    case 'getIndexSizes':
      return world.profile.hasSizes ? indexSizes(world) : failure(400, 'there is no action getIndexSizes');
    default:
      return failure(400, `there is no action ${action || 'without a name'}`);
  }
}

const truncateFields = ['entityType', 'aspect', 'endTimeMillis', 'dryRun', 'batchSize', 'timeoutSeconds'];

function truncate({ profile, stored, tasks, now }: World, fields: Record<string, unknown>): Reply {
  const unknown = Object.keys(fields).find((name) => !truncateFields.includes(name));
  if (unknown !== undefined && profile.refusesFields) {
    return failure(profile.refusesFields, `Parameter '${unknown}' is not known to this action`);
  }
  const { entityType, aspect, endTimeMillis, dryRun = true, batchSize = 10_000, timeoutSeconds } = fields;
  if (typeof entityType !== 'string') return required('entityType');
  if (typeof aspect !== 'string') return required('aspect');
  // As DataHub: what does not fit into a long is as good as missing.
  if (!isWhole(endTimeMillis) || Math.abs(endTimeMillis) >= 2 ** 63) return required('endTimeMillis');
  if (typeof dryRun !== 'boolean') return required('dryRun');
  if (!isWhole(batchSize) || batchSize < 1) return required('batchSize');
  if (timeoutSeconds !== undefined && !isWhole(timeoutSeconds)) return required('timeoutSeconds');
  const rows = stored.get(indexKey(entityType, aspect));
  if (!rows) return failure(500, `no such index [${indexKey(entityType, aspect)}] index_not_found_exception`);
  const isReindexed = profile.reindexed.includes(`${entityType}.${aspect}`);
  if (dryRun) {
    const reindexes = isReindexed || profile.reindexes || !profile.announcesDeletes;
    const old = rows.before(endTimeMillis);
    const percent = (rows.total === 0 ? 0 : (old / rows.total) * 100).toFixed(2);
    return json({ value: dryRunSentence(old, rows.total, percent, reindexes ? 'reindex' : 'delete') });
  }
  const own: ServerProfile = isReindexed ? { ...profile, reindexes: true, counters: 'created' } : profile;
  return taskId(tasks.start(rows, endTimeMillis, batchSize, own, now()), profile);
}

const isWhole = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value);

const required = (field: string): Reply => failure(400, `Parameter '${field}' is required`);

function taskId(id: string, { taskId: shape }: ServerProfile): Reply {
  if (shape === 'text') return { status: 200, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: id };
  return json(shape === 'json' ? id : { value: id });
}

function taskStatus({ profile, tasks, now }: World, fields: Record<string, unknown>): Reply {
  const id = taskOf(fields);
  if (id === undefined) return required('task');
  const status = tasks.status(id, now());
  if (profile.status === 'none' || !status) return json({ value: statusError(id) });
  const text = JSON.stringify(status);
  const shapes = { object: status, string: text, 'value-string': { value: text }, 'value-object': { value: status } };
  return json(shapes[profile.status]);
}

/** Either form: `<node_id>:<task_number>` in one field, or both apart; undefined if it is neither. */
function taskOf({ task, nodeId, taskId: number }: Record<string, unknown>): string | undefined {
  if (typeof task === 'string') return task;
  const isNumber = isWhole(number) || (typeof number === 'string' && /^\d+$/.test(number));
  return typeof nodeId === 'string' && isNumber ? `${nodeId}:${number}` : undefined;
}

/** The shape of DataHub's answer; a row takes about a quarter of a kilobyte. */
function indexSizes({ stored }: World): Reply {
  const sizes = [...stored].map(([indexName, { entityType, aspect, total }]) => ({
    indexName,
    entityName: entityType.toLowerCase(),
    aspectName: aspect.toLowerCase(),
    sizeInMb: total * 0.00025,
  }));
  return json({ value: { indexSizes: sizes } });
}

const json = (body: unknown): Reply => ({
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

const failure = (status: number, message: string): Reply => ({ ...json({ status, message }), status });

/** An action without fields may have no body. */
function parsed(body: string): unknown {
  if (body === '') return {};
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** A longer body holds no request of this service: it is cut, and is then no JSON object. */
const maxBodyBytes = 1_000_000;

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= maxBodyBytes) chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
