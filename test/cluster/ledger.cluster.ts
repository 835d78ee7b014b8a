import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConfigMap, configMaps } from '../../cli/ledgers/config-maps.ts';
import { kubernetesLedger, nameOf } from '../../cli/ledgers/kubernetes-ledger.ts';
import { plantIn } from '../support/kubernetes-api.ts';
import { ledgerContract } from '../support/ledger-contract.ts';
import { type Listening, listening, textOf } from '../support/loopback.ts';
import { anIdle, anIndex } from '../support/records.ts';
import { reasonOf, skipped } from '../support/skips.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { builtCluster } from './programs.ts';

/**
 * What the ledger relies on of an API server, against a real one, with the rights of the chart's Role and no others. What
 * needs no server of its own is in test/cli/ledgers/kubernetes-ledger.test.ts.
 */

const programs = findPrograms();
const index = anIndex;
const name = nameOf(index);
const by = (runId: string, revision = 1) => anIdle({ revision, lastSender: { runId, runStartMillis: 0 } });

let plane: ControlPlane;
let folder: string;
let ca: string;
let namespaces = 0;

/** No Helm, and no pods. */
function findPrograms(): string | undefined {
  try {
    return builtCluster();
  } catch (error) {
    return skipped(`The ledger is not tried on an API server: ${reasonOf(error)}.`);
  }
}

interface Space {
  namespace: string;
  token: string;
}

/** A namespace with a service account that has the Role of the chart. */
async function newSpace(verbs = ['get', 'list', 'create', 'update']): Promise<Space> {
  const namespace = `ledger-${++namespaces}`;
  const post = async (path: string, body: object) => {
    const answer = await plane.api<{ status: { token: string } }>('POST', path, body);
    if (answer.status > 299) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  await post('/api/v1/namespaces', { metadata: { name: namespace } });
  await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'job' } });
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs }];
  await post(`${rbac}/roles`, { metadata: { name: 'job' }, rules });
  await post(`${rbac}/rolebindings`, {
    metadata: { name: 'job' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'job' },
    subjects: [{ kind: 'ServiceAccount', name: 'job', namespace }],
  });
  const { status } = await post(`/api/v1/namespaces/${namespace}/serviceaccounts/job/token`, {
    spec: { expirationSeconds: 3600 },
  });
  return { namespace, token: status.token };
}

const server = () => `https://${plane.host}:${plane.port}`;
const mapsOf = ({ namespace, token }: Space, url = server()) =>
  configMaps({ url, namespace, token: () => token, ca: () => ca, timeoutMillis: 3000 });
const open = (space: Space, url?: string) => kubernetesLedger(mapsOf(space, url), { pause: async () => {} });
const pathOf = ({ namespace }: Space) => `/api/v1/namespaces/${namespace}/configmaps/${name}`;
const stored = async (space: Space) => (await plane.api<ConfigMap>('GET', pathOf(space))).body;
let labels = 0;
/** As the administrator, beside the job. */
const label = (space: Space) =>
  plane.api('PATCH', pathOf(space), { metadata: { labels: { [`somebody-${++labels}`]: 'x' } } });

/** Stands between a ledger and the API server. */
async function between(
  meddle: (asked: IncomingMessage, forward: () => Promise<void>) => Promise<void>,
): Promise<Listening> {
  const agent = new Agent({ connect: { ca } });
  const handle = async (asked: IncomingMessage, answer: ServerResponse) => {
    const body = await textOf(asked);
    const forward = async () => {
      const { authorization = '', 'content-type': type = 'application/json' } = asked.headers;
      const answered = await request(`${server()}${asked.url}`, {
        dispatcher: agent,
        method: asked.method as 'GET',
        headers: { authorization, 'content-type': type },
        ...(body !== '' && { body }),
      });
      const text = await answered.body.text();
      if (!answer.destroyed) answer.writeHead(answered.statusCode, { 'content-type': 'application/json' }).end(text);
    };
    await meddle(asked, forward);
  };
  return listening(createServer((asked, answer) => void handle(asked, answer).catch(() => answer.destroy())));
}

describe.skipIf(programs === undefined)('On a real API server', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'datahub-retention-ledger-'));
    plane = await startControlPlane(programs!, folder);
    ca = readFileSync(join(folder, 'certificates/apiserver.crt'), 'utf8');
  });
  afterAll(async () => {
    await plane?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  ledgerContract('the ledger of ConfigMaps', async () => {
    const space = await newSpace();
    return {
      ledger: () => open(space),
      plant: (at, record) => plantIn(mapsOf(space), at, record),
    };
  });

  test('tries its rights before a run, and stores nothing', async () => {
    const space = await newSpace();
    await open(space).prepare();
    const { body } = await plane.api<{ items: ConfigMap[] }>('GET', `/api/v1/namespaces/${space.namespace}/configmaps`);
    expect(body.items.map(({ metadata }) => metadata.name).filter((each) => each !== 'kube-root-ca.crt')).toEqual([]);
    for (const verbs of [
      ['get', 'list', 'create'],
      ['get', 'list', 'update'],
    ]) {
      await expect(open(await newSpace(verbs)).prepare()).rejects.toThrow(/answered 403 .*\(rbac.create\)/);
    }
    await expect(open(await newSpace(['create', 'update'])).list()).rejects.toThrow(
      /cannot list resource "configmaps"/,
    );
  });

  test('goes on where somebody labels the ConfigMap before each write, and the labels stay', async () => {
    const space = await newSpace();
    const proxy = await between(async ({ method }, forward) => {
      if (method === 'PUT' && ++puts % 4 !== 0) await label(space);
      await forward();
    });
    let puts = 0;
    const ledger = open(space, proxy.url);
    for (let revision = 1; revision <= 6; revision++) expect(await ledger.replace(by('a', revision))).toBe(true);
    expect(await open(space).read(index)).toEqual(by('a', 6));
    expect(puts).toBe(20);
    const kept = Object.keys((await stored(space)).metadata.labels!).filter((each) => each.startsWith('somebody'));
    expect(kept).toHaveLength(15);
    await proxy.close();
  });

  test('a write that lands late, when its repetition has been stored, is refused by the server', async () => {
    const space = await newSpace();
    await open(space).replace(by('a'));
    let land = () => {};
    const late = new Promise<void>((resolve) => {
      land = resolve;
    });
    let landed: Promise<void> | undefined;
    const proxy = await between(async (asked, forward) => {
      if (asked.method !== 'PUT' || landed !== undefined) return forward();
      landed = late.then(forward);
      asked.socket.destroy();
    });
    expect(await open(space, proxy.url).replace(by('a', 2))).toBe(true);
    expect(await open(space).replace(by('b', 3))).toBe(true);
    land();
    await landed;
    expect(await open(space).read(index)).toEqual(by('b', 3));
    await proxy.close();
  });

  test('a ConfigMap that is deleted is no record, and one that is restored has its revision of then', async () => {
    const space = await newSpace();
    const ledger = open(space);
    for (const revision of [1, 2]) await ledger.replace(by('a', revision));
    const { apiVersion, kind, metadata, data } = (await stored(space)) as ConfigMap & Record<string, string>;
    await ledger.replace(by('a', 3));
    await plane.api('DELETE', pathOf(space));
    expect(await ledger.read(index)).toBeUndefined();
    expect(await ledger.replace(by('a', 4))).toBe(false);
    const { labels: theirs, annotations } = metadata;
    const restored = { apiVersion, kind, data, metadata: { name, labels: theirs, annotations } };
    await plane.api('POST', `/api/v1/namespaces/${space.namespace}/configmaps`, restored);
    expect(await ledger.read(index)).toEqual(by('a', 2));
    expect(await ledger.replace(by('a', 4))).toBe(false);
    expect(await ledger.replace(by('a', 3))).toBe(true);
  });

  test('of six processes, each killed at one of its requests, every revision has one winner', async () => {
    const space = await newSpace();
    const writers = Array.from({ length: 6 }, (_, at) => at);
    const times = 6;
    const won: number[] = [];
    await Promise.all(
      writers.map(async (at) => {
        let requests = 0;
        const killedAt = 4 + at * 3;
        const proxy = await between(async (_asked, forward) => {
          requests += 1;
          // Before it is carried out, or after.
          if (requests === killedAt && at % 2 === 0) child.kill('SIGKILL');
          await forward();
          if (requests === killedAt) child.kill('SIGKILL');
        });
        const script = join(import.meta.dirname, '../cli/ledgers/writer.ts');
        const args = [`${times}`, proxy.url, space.namespace, space.token];
        const run = () => fork(script, args, { execArgv: ['--import', 'tsx'] });
        let child = run();
        const ended = () =>
          new Promise<void>((resolve) => {
            child.on('message', (revision) => won.push(revision as number));
            child.on('exit', () => resolve());
          });
        await ended();
        // The next pod.
        child = run();
        await ended();
        await proxy.close();
      }),
    );
    expect(new Set(won).size).toBe(won.length);
    expect(won.length).toBeGreaterThanOrEqual(writers.length * times);
    const { revision = 0 } = (await open(space).read('counter')) as { revision?: number };
    // What a killed one has stored without being able to say so.
    expect(revision - won.length).toBeGreaterThanOrEqual(0);
    expect(revision - won.length).toBeLessThanOrEqual(writers.length);
  });
});
