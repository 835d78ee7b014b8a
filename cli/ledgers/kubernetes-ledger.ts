import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../../lambda/gms/responses/json-value.ts';
import { LedgerError } from '../../lambda/ledger/ledger.ts';
import { parseRecord, type StoredRecord, storable } from '../../lambda/ledger/record.ts';
import { type Retry, replaceOnce, retried } from '../../lambda/ledger/replace-once.ts';
import type { RunStore } from '../../lambda/ledger/runs.ts';
import { ApiError, type ConfigMap, type ConfigMaps } from './config-maps.ts';
import type { StoredLedger } from './stored-ledger.ts';

/**
 * The ledger of the chart: one ConfigMap for each index, in the namespace of the job.
 *
 * Its name comes from the search index alone: the server's address and name can change, and a ledger under another name
 * would be empty. So two DataHubs have two namespaces. It has one label of its own and no owner: tools that prune what is
 * not in their repository go by labels and owners, and must not remove a record in the middle of a truncation.
 *
 * The revision is in the data, because `resourceVersion` changes with every label that anybody adds. A write is
 * conditional on both: it reads, compares the revision, and replaces the very object that it read (`resourceVersion` and
 * uid). After a conflict it reads again, and tries again as long as the revision has not changed. A write whose answer
 * was lost and that arrives later still is refused, because it has the same precondition as its repetition.
 */

export const ledgerLabel = 'datahub-retention/ledger';
const indexAnnotation = 'datahub-retention/index';
const selector = `${ledgerLabel}=record`;

/**
 * Pauses before the attempts after the first, milliseconds. A control plane with one server is away for longer while it
 * is upgraded; then the run says so.
 */
const pausesMillis = [200, 500, 1000, 2000, 5000, 10_000];

/** The most that a 429 may ask for. */
const maxPauseMillis = 30_000;

/** A program that keeps changing a label does not win this race so often. */
const maxConflicts = 30;

export function kubernetesLedger(
  maps: ConfigMaps,
  { pause = sleep }: Partial<Pick<Retry, 'pause'>> = {},
): StoredLedger {
  const retry = { pause, pauseAfter };
  const attempted = <Value>(what: string, work: Promise<Value>): Promise<Value> =>
    work.catch((error: unknown) => {
      throw ledgerError(maps.namespace, what, error);
    });
  const repeated = <Value>(what: string, call: () => Promise<Value>) => attempted(what, retried(call, retry));
  const get = (index: string) => repeated(`read ${index}`, () => maps.get(nameOf(index)));

  /** Stored beside the records; its label tells it from them. */
  const runStore = (is: 'last-run' | 'runs'): RunStore => {
    const name = `datahub-retention-${is}`;
    return {
      readRuns: async () => (await repeated(`read ${name}`, () => maps.get(name)))?.data?.[is],
      replaceRuns: (text, before) =>
        repeated(`write ${name}`, async () => {
          const current = await maps.get(name);
          if (current?.data?.[is] !== before) return false;
          const map = mapOf({ name, is }, { [is]: text }, current);
          return (current ? maps.update(map) : maps.create(map)).then(
            () => true,
            (error: unknown) => {
              if (isConflict(error, current !== undefined)) return false;
              throw error;
            },
          );
        }),
    };
  };

  return {
    exists: () => true,

    async read(index) {
      const map = await get(index);
      return map && recordIn(index, map);
    },

    async list() {
      const found = await repeated('list the records', () => maps.list(selector));
      return found
        .flatMap((map) => {
          const index = indexOf(map);
          return index === undefined ? [] : [recordIn(index, map)];
        })
        .sort((one, other) => (one.index < other.index ? -1 : 1));
    },

    async replace(next) {
      const { index } = next;
      const record = storable(next);
      const put = async (writeId: string) => {
        for (let conflicts = 0; ; ) {
          const current = await get(index);
          if (revisionIn(current) !== record.revision - 1) return false;
          try {
            const map = mapOf({ name: nameOf(index), is: 'record', index }, dataOf(record, writeId), current);
            await (current === undefined ? maps.create(map) : maps.update(map));
            return true;
          } catch (error) {
            if (!isConflict(error, current !== undefined) || ++conflicts >= maxConflicts) throw error;
          }
        }
      };
      const read = async () => (await get(index))?.data?.['writeId'];
      return attempted(`write ${index}`, replaceOnce({ read, put }, retry));
    },

    last: runStore('last-run'),
    runs: runStore('runs'),

    async prepare() {
      const probe = {
        metadata: { name: `datahub-retention-probe-${randomUUID()}`, labels: { [ledgerLabel]: 'probe' } },
      };
      await repeated('write', async () => {
        // A cluster whose webhooks cannot take part in a dry run answers 400, and so does a webhook that refuses us.
        await maps.create(probe, { dryRun: true }).catch((error: unknown) => {
          if (/ denied the request/.test(String(error))) throw error;
          ignoring(400)(error);
        });
        // Permissions are checked before the object is looked for.
        await maps.update(probe, { dryRun: true }).catch(ignoring(404, 400, 409, 422));
      });
    },
  };
}

/** For people who list ConfigMaps, and exact: two indices with one slug differ in the hash. */
export function nameOf(index: string): string {
  const slug = index.replace(/[^a-z0-9]+/g, '-').slice(0, 60);
  const hash = createHash('sha256').update(index).digest('hex').slice(0, 12);
  return `datahub-retention-${slug}-${hash}`;
}

/** A copy that a person keeps under another name belongs to no index. */
const indexOf = ({ metadata, data }: ConfigMap): string | undefined =>
  [metadata.annotations?.[indexAnnotation], (jsonIn(data) as { index?: unknown }).index].find(
    (index): index is string => typeof index === 'string' && nameOf(index) === metadata.name,
  );

/** An unreadable record, and one under the name of another index, keep their revision: a release overwrites them. */
function recordIn(index: string, map: ConfigMap): StoredRecord {
  const { [indexAnnotation]: stated = index } = map.metadata.annotations ?? {};
  const stored = { ...jsonIn(map.data), ...(stated !== index && { index: stated }) };
  const revision = revisionIn(map);
  return parseRecord(index, revision === 0 ? stored : { ...stored, revision });
}

/** 0 if there is no record, or none with a revision. */
function revisionIn(map: ConfigMap | undefined): number {
  const given = [map?.data?.['revision'], (jsonIn(map?.data) as { revision?: unknown }).revision];
  return given.map(Number).find((revision) => Number.isSafeInteger(revision) && revision > 0) ?? 0;
}

const jsonIn = (data: ConfigMap['data']): object => Object(parseJson(data?.['record'] ?? ''));

/** Indented, because people look at it with kubectl. */
const dataOf = (record: object & { revision: number }, writeId: string) => ({
  revision: `${record.revision}`,
  writeId,
  record: JSON.stringify(record, null, 2),
});

/** What others have written beside it stays: their labels and annotations are not ours. */
function mapOf(
  { name, is, index }: { name: string; is: 'record' | 'last-run' | 'runs'; index?: string },
  data: Record<string, string>,
  current: ConfigMap | undefined,
): ConfigMap {
  const { managedFields: _, ...metadata } = current?.metadata ?? { name };
  return {
    ...current,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [ledgerLabel]: is },
      annotations: { ...metadata.annotations, ...(index !== undefined && { [indexAnnotation]: index }) },
    },
    data,
  };
}

/** Another write was first, or the object has gone since it was read. */
const isConflict = (error: unknown, isUpdate: boolean): boolean =>
  error instanceof ApiError && (error.status === 409 || (isUpdate && error.status === 404));

const ignoring =
  (...statuses: number[]) =>
  (error: unknown): void => {
    if (!(error instanceof ApiError) || !statuses.includes(error.status ?? 0)) throw error;
  };

/** Undefined if the attempt is not to be repeated. */
function pauseAfter(error: unknown, attempt: number): number | undefined {
  const millis = pausesMillis[attempt];
  if (!(error instanceof ApiError) || !error.isTransient || millis === undefined) return undefined;
  return Math.max(millis, Math.min(error.retryAfterMillis ?? 0, maxPauseMillis));
}

function ledgerError(namespace: string, what: string, error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  return new LedgerError(
    `Tried to ${what} in the ledger (ConfigMaps of the namespace ${namespace}): ${error.message}; ${remedyOf(error)}.`,
  );
}

function remedyOf({ status, message, unreadableFile }: ApiError): string {
  switch (status) {
    case undefined:
      return unreadableFile
        ? 'mount the token of the service account as the chart does'
        : 'a network policy has to let the pod reach the API server (networkPolicy.apiServer in the values)';
    case 401:
      return "the pod's service account has been deleted or made anew: the next Job has a token of the new one";
    case 400:
    case 403:
    case 422:
      if (/quota/.test(message)) return 'raise the quota of the namespace: it needs one ConfigMap for each index';
      // Only the API server's check of Roles says this; admission answers with any of the three.
      return /cannot \w+ resource/.test(message)
        ? 'give the service account the Role of the chart (rbac.create), or keep the ledger on a claim (ledger.existingClaim)'
        : 'something other than its Role refuses it (an admission policy, a namespace that is being deleted): ask the people who run the cluster';
    case 409:
      return 'something changes this ConfigMap after every read: its managedFields say what';
    default:
      return 'if this persists, ask the people who run the cluster; no run starts anything without the ledger';
  }
}
