import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ledgerAt } from '../../../cli/ledgers/choose.ts';
import { type ApiAccess, type ConfigMap, configMaps, podAccess } from '../../../cli/ledgers/config-maps.ts';
import { kubernetesLedger, ledgerLabel, nameOf } from '../../../cli/ledgers/kubernetes-ledger.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { revisionOf } from '../../../lambda/ledger/record.ts';
import { http, rawServer, trickle } from '../../lambda/gms/http/raw-server.ts';
import {
  type Asked,
  type KubernetesApi,
  namespace,
  plantIn,
  startKubernetesApi,
  type Trouble,
} from '../../support/kubernetes-api.ts';
import { type LedgerStore, ledgerContract, runsContract } from '../../support/ledger-contract.ts';
import { listening } from '../../support/loopback.ts';
import { anIdle, anIndex, aRunning } from '../../support/records.ts';

const index = anIndex;
const name = nameOf(index);
const by = (runId: string, revision = 1) => anIdle({ revision, lastSender: { runId, runStartMillis: 0 } });

let api: KubernetesApi;
let paused: number[];

beforeEach(async () => {
  api = await startKubernetesApi();
  paused = [];
});
afterEach(() => api.close());

const access = (more: Partial<ApiAccess> = {}): ApiAccess => ({
  url: api.url,
  namespace,
  token: () => api.token,
  ...more,
});
const open = (more: Partial<ApiAccess> = {}) =>
  kubernetesLedger(configMaps(access(more)), {
    pause: async (millis) => {
      paused.push(millis);
    },
  });
const writes = () => api.asked.filter(({ method }) => method !== 'GET');
/** Lets the first writes meet these troubles, and what comes after them nothing. */
const troubles = (...list: Trouble[]) => {
  api.before = ({ method }) => (method === 'GET' ? undefined : list.shift());
};
/** What another client does just before each of the first replacements of a ConfigMap. */
const beforeEachPut = (act: (body: ConfigMap) => void, times = Number.POSITIVE_INFINITY) => {
  let left = times;
  api.before = ({ method, body }) => {
    if (method === 'PUT' && left-- > 0) act(body!);
    return undefined;
  };
};

const emptyStore = async (): Promise<LedgerStore> => {
  const own = await startKubernetesApi();
  const maps = () => configMaps({ url: own.url, namespace, token: () => own.token });
  return {
    ledger: () => kubernetesLedger(maps(), { pause: async () => {} }),
    plant: (at, record) => plantIn(maps(), at, record),
    close: () => own.close(),
  };
};
ledgerContract('The ledger of ConfigMaps', emptyStore);
runsContract('The ledger of ConfigMaps', emptyStore);

test('The name of a ConfigMap is made of the search index alone, and different for two that look alike', () => {
  expect(nameOf('dataset_operationaspect_v1')).toMatch(/^datahub-retention-dataset-operationaspect-v1-[0-9a-f]{12}$/);
  expect(nameOf('dataset_operation')).not.toBe(nameOf('dataset.operation'));
  expect(nameOf(`${'x'.repeat(300)}_v1`)).toMatch(/^[a-z0-9][a-z0-9-]{1,250}[a-z0-9]$/);
});

test('The list of runs and the last run have ConfigMaps of their own', async () => {
  for (const store of [open().runs, open().last]) expect(await store.replaceRuns('a', undefined)).toBe(true);
  expect(api.stored.size).toBe(2);
});

describe('A write', () => {
  test('has no label but its own, and no owner', async () => {
    await open().replace(by('a'));
    const { metadata } = api.stored.get(name)!;
    expect(metadata.labels).toEqual({ [ledgerLabel]: 'record' });
    expect(metadata).not.toHaveProperty('ownerReferences');
  });

  test('reads what the server has stored, and no cache', async () => {
    const ledger = open();
    await ledger.replace(by('a'));
    await ledger.read(index);
    await ledger.list();
    expect(api.asked.filter(({ path }) => path.includes('resourceVersion'))).toEqual([]);
  });

  test('succeeds although someone labels the ConfigMap before each attempt, and keeps the labels', async () => {
    const ledger = open();
    await ledger.replace(by('a'));
    let labels = 0;
    beforeEachPut(() => api.change(name, (map) => (map.metadata.labels![`label-${++labels}`] = 'x')), 20);
    expect(await ledger.replace(by('a', 2))).toBe(true);
    expect(Object.keys(api.stored.get(name)!.metadata.labels!)).toHaveLength(21);
  });

  test('says so where that has no end', async () => {
    const ledger = open();
    await ledger.replace(by('a'));
    beforeEachPut(() => api.change(name, () => {}));
    await expect(ledger.replace(by('a', 2))).rejects.toThrow('something changes this ConfigMap after every read');
    expect(await ledger.read(index)).toEqual(by('a'));
  });

  test('is refused where another run was first after it had read', async () => {
    const [ledger, other] = [open(), open()];
    await ledger.replace(by('a'));
    const record = JSON.stringify(by('other', 2));
    beforeEachPut(
      ({ data }) => api.change(name, (map) => (map.data = { ...data, record, writeId: 'of the other' })),
      1,
    );
    expect(await ledger.replace(by('a', 2))).toBe(false);
    expect(await other.read(index)).toEqual(by('other', 2));
  });

  test.each<[what: string, trouble: Trouble[]]>([
    ['the answer was lost', ['answer lost']],
    ['the request was lost', ['request lost']],
    ['answers were lost again and again', ['answer lost', 'answer lost', 'request lost', 'answer lost']],
    ['the server had no time', [{ status: 504 }, { status: 500 }, { status: 503 }]],
  ])('is known to be stored where %s', async (_, list) => {
    for (const revision of [1, 2]) {
      troubles(...list);
      expect(await open().replace(by('mine', revision))).toBe(true);
      expect(await open().read(index)).toEqual(by('mine', revision));
    }
  });

  test.each([1, 2])(
    'that lands late, after its repetition, is refused by the server: revision %i',
    async (revision) => {
      const ledger = open();
      for (let before = 1; before < revision; before++) await ledger.replace(by('a', before));
      let land = () => {};
      troubles({ later: new Promise((resolve) => (land = resolve)) });
      expect(await ledger.replace(by('a', revision))).toBe(true);
      expect(await ledger.replace(by('a', revision + 1))).toBe(true);
      land();
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(revisionOf(await ledger.read(index))).toBe(revision + 1);
    },
  );

  test('does not take the same record of another run for its own when the answer was lost', async () => {
    await open().replace(by('same'));
    troubles('request lost');
    expect(await open().replace(by('same'))).toBe(false);
  });

  test('waits as long as a 429 asks', async () => {
    troubles({ status: 429, retryAfter: 7 }, { status: 429, retryAfter: 86_400 });
    expect(await open().replace(by('a'))).toBe(true);
    expect(paused).toEqual([7000, 30_000]);
  });

  test('is refused where the record was deleted', async () => {
    const ledger = open();
    await ledger.replace(by('a'));
    beforeEachPut(() => api.stored.delete(name));
    expect(await ledger.replace(by('a', 2))).toBe(false);
    expect(await ledger.read(index)).toBeUndefined();
  });

  test('never replaces a ConfigMap that was deleted and made anew since it was read', async () => {
    const ledger = open();
    await ledger.replace(by('a'));
    const restored = structuredClone(api.stored.get(name)!);
    const metadata = { ...restored.metadata, uid: 'another', resourceVersion: '1' };
    beforeEachPut(() => api.stored.set(name, { ...restored, metadata }), 1);
    expect(await ledger.replace(by('a', 2))).toBe(true);
    expect(writes().filter(({ method }) => method === 'PUT')).toHaveLength(2);
  });

  test('restores the label by which the records are listed', async () => {
    const ledger = open();
    await ledger.replace(by('a'));
    api.change(name, (map) => (map.metadata.labels = {}));
    expect(await ledger.list()).toEqual([]);
    expect(await ledger.replace(by('b'))).toBe(false);
    expect(await ledger.replace(by('b', 2))).toBe(true);
    expect(await ledger.list()).toEqual([by('b', 2)]);
  });
});

describe('A ConfigMap that a person has changed', () => {
  const damaged = async (change: (map: { data?: Record<string, string> }) => void) => {
    const ledger = open();
    await ledger.replace(aRunning());
    await ledger.replace(aRunning({ revision: 2 }));
    api.change(name, change);
    return ledger;
  };

  test.each<[what: string, revision: number, change: (map: { data?: Record<string, string> }) => void]>([
    ['its record is cut', 2, ({ data }) => (data!['record'] = data!['record']!.slice(0, 40))],
    ['its record is gone', 2, ({ data }) => delete data!['record']],
    ['its revision is a word', 2, ({ data }) => (data!['revision'] = 'two')],
    ['everything is gone', 0, (map) => delete map.data],
  ])('is written over by the next revision alone, be it unreadable: %s', async (_, revision, change) => {
    const ledger = await damaged(change);
    expect(revisionOf(await ledger.read(index))).toBe(revision);
    expect(await ledger.list()).toEqual([await ledger.read(index)]);
    expect(await ledger.replace(by('late', revision + 2))).toBe(false);
    expect(await ledger.replace(by('a', revision + 1))).toBe(true);
    expect(await ledger.read(index)).toEqual(by('a', revision + 1));
  });

  test('is left alone where it says that it is of another index, and the others are read', async () => {
    const ledger = open();
    await ledger.replace(by('a'));
    await ledger.replace({ ...by('a'), index: 'another' });
    api.change(name, (map) => (map.metadata.annotations = { 'datahub-retention/index': 'a third' }));
    expect(await ledger.read(index)).not.toEqual(by('a'));
    expect(revisionOf(await ledger.read(index))).toBe(1);
    expect((await ledger.list()).map((record) => record.index)).toEqual(['another', index]);
  });

  test('is no record under another name', async () => {
    const ledger = open();
    await ledger.replace(by('a'));
    const { resourceVersion: _, uid: __, ...metadata } = api.stored.get(name)!.metadata;
    const { data = {} } = api.stored.get(name)!;
    await configMaps(access()).create({ data, metadata: { ...metadata, name: 'kept-for-later' } });
    expect(await ledger.list()).toEqual([by('a')]);
  });
});

test('lists more records than a page has, also where the list has to begin anew', async () => {
  const ledger = open();
  await ledger.replace(by('a'));
  const first = api.stored.get(name)!;
  const names = Array.from({ length: 230 }, (_, number) => `index${String(number).padStart(3, '0')}`);
  for (const each of names) {
    const record = JSON.stringify({ ...by('a'), index: each });
    const metadata = { ...first.metadata, name: nameOf(each), annotations: { 'datahub-retention/index': each } };
    api.stored.set(nameOf(each), { metadata, data: { ...first.data, record } });
  }
  let pages = 0;
  api.before = ({ path }) => (path.includes('continue') && ++pages === 1 ? { status: 410 } : undefined);
  expect((await ledger.list()).map((record) => record.index)).toEqual([index, ...names]);
  expect(pages).toBe(2);
});

describe('An API server that is not as it should be', () => {
  const everything = (trouble: Trouble) => {
    api.before = () => trouble;
  };

  test.each<[what: string, trouble: Trouble, said: RegExp]>([
    ['is away', 'request lost', /no answer from the API server.*network policy/],
    [
      'fails',
      { status: 503, message: 'etcdserver: no leader' },
      /answered 503 \(etcdserver: no leader\).*if this persists/,
    ],
    ['asks to wait without end', { status: 429, retryAfter: 1 }, /answered 429/],
    [
      'refuses',
      { status: 403, message: 'configmaps is forbidden: User "system:serviceaccount:x:y" cannot list resource' },
      /cannot list resource.*\(rbac.create\).*ledger.existingClaim/,
    ],
    ['has a quota', { status: 403, message: 'exceeded quota: few' }, /exceeded quota.*raise the quota/],
    ['has an admission policy', { status: 422, message: 'denied request' }, /denied.*other than its Role/],
    ['has a webhook that denies', { status: 403, message: 'denied the request' }, /denied.*other than its Role/],
    ['has one that names no status', { status: 400, message: 'denied the request' }, /denied.*other than its Role/],
    ['does not know the token', { status: 401, message: 'Unauthorized' }, /answered 401/],
  ])('that %s: one sentence', async (_, trouble, said) => {
    everything(trouble);
    for (const call of [() => open().list(), () => open().read(index), () => open().replace(by('a'))]) {
      const error = (await call().catch((thrown: unknown) => thrown)) as Error;
      expect(error).toBeInstanceOf(LedgerError);
      expect(error.message).toMatch(said);
      expect(error.message).not.toContain(api.token);
    }
    expect(api.stored.size).toBe(0);
  });

  test('that is a page of a proxy is no empty ledger', async () => {
    const page = await listening(createServer((_, response) => void response.end('<html>')));
    await expect(open({ url: page.url }).list()).rejects.toThrow('is not from an API server');
    await page.close();
  });

  const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999999\r\n';
  test.each<[what: string, first: string, next: string, writes: boolean]>([
    ['trickles headers', head, 'a: b\r\n', false],
    ['trickles an answer', `${head}\r\n{`, ' ', true],
    ['never answers', '', '', false],
  ])('that %s is given up, and what it has stored counts', async (_, first, next, stores) => {
    const server = await rawServer({ onRequest: (socket) => trickle(socket, first, next) });
    const maps = configMaps(access({ url: server.url, timeoutMillis: 200 }));
    await expect(maps.list('x=y')).rejects.toThrow(/no answer from the API server|broke off/);
    const write = maps.create({ metadata: { name: 'x' } });
    await (stores ? write : expect(write).rejects.toThrow('no answer from the API server'));
    expect(server.connections).toBe(2);
  });

  test('that repeats its token, or lists without an end, is not quoted, and not waited for', async () => {
    api.token = 'a-token-of-the-service-account';
    everything({ status: 403, message: `not for Bearer ${api.token}` });
    await expect(open().list()).rejects.toThrow(/answered 403(?!.*service-account)/);
    const page = JSON.stringify({ items: [], metadata: { continue: 'more' } });
    const endless = await rawServer({ onRequest: (socket) => socket.write(http(200, page)) });
    await expect(configMaps(access({ url: endless.url })).list('x=y')).rejects.toThrow('without an end');
  });
});

describe('Before a run', () => {
  test('what may not be written is found out, and nothing is stored', async () => {
    const ledger = open();
    await ledger.prepare();
    expect(api.stored.size).toBe(0);
    for (const verb of ['POST', 'PUT']) {
      const message = 'configmaps is forbidden';
      api.before = ({ method }: Asked) => (method === verb ? { status: 403, message } : undefined);
      await expect(ledger.prepare()).rejects.toThrow('Tried to write in the ledger');
    }
    troubles({ status: 400, message: 'admission webhook "labels" does not support dry run' }, { status: 400 });
    await ledger.prepare();
    troubles({ status: 400, message: 'admission webhook "labels" denied the request' });
    await expect(ledger.prepare()).rejects.toThrow('denied the request');
  });

  test('the token is read for each request', async () => {
    const tokens = ['old', 'new'];
    const ledger = open({ token: () => tokens[0]! });
    api.token = 'old';
    await ledger.replace(by('a'));
    api.token = 'new';
    await expect(ledger.list()).rejects.toThrow('401');
    tokens.shift();
    expect(await ledger.list()).toHaveLength(1);
  });
});

describe('A pod', () => {
  const at = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  const folder = mkdtempSync(join(tmpdir(), 'service-account-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('takes namespace, token and certificates from what Kubernetes has mounted', () => {
    for (const each of ['namespace', 'token', 'ca.crt']) writeFileSync(join(folder, each), `the ${each}\n`);
    const found = podAccess(at, folder)!;
    expect(found).toMatchObject({ url: 'https://[fd00::1]:443', namespace: 'the namespace' });
    writeFileSync(join(folder, 'token'), 'a later token');
    expect([found.token(), found.ca?.()]).toEqual(['a later token', 'the ca.crt']);
  });

  test('has no access without them, and a machine has none', () => {
    expect(podAccess(at, '/nowhere')).toBeUndefined();
    expect(podAccess({}, folder)).toBeUndefined();
  });

  test.each([
    ['kubernetes:', 'is for a pod with the token of its service account'],
    ['kubernetes:datahub', 'nothing follows kubernetes:'],
  ])('is where --ledger %s belongs', (path, said) => {
    expect(() => ledgerAt(path, {})).toThrow(said);
  });
});
