import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { listening, textOf } from '../support/loopback.ts';

/** As much of a cluster's API as kubectl needs for CronJobs, Jobs and Secrets. */
export interface Cluster {
  /** Names the server to kubectl. */
  kubeconfig: string;
  /** What was created or patched, in order. */
  // biome-ignore lint/suspicious/noExplicitAny: manifests are whatever Kubernetes takes
  written: { method: string; path: string; body: any }[];
  close(): Promise<void>;
}

export function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    console.error('The commands of the chart are not tried: there is no kubectl.');
    return false;
  }
}

const kinds = {
  '/api/v1': { group: 'v1', resources: [['secrets', 'Secret']] },
  '/apis/batch/v1': {
    group: 'batch/v1',
    resources: [
      ['cronjobs', 'CronJob'],
      ['jobs', 'Job'],
    ],
  },
} as const;

/**
 * @param folder for the kubeconfig
 * @param objects that are there, by their path
 */
export async function startCluster(folder: string, objects: Record<string, object>): Promise<Cluster> {
  const written: Cluster['written'] = [];
  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    const path = request.url!.split('?')[0]!;
    const isRead = request.method === 'GET';
    // Some commands write in a binary form, of which a test can only read the texts.
    const body = text.startsWith('{') ? JSON.parse(text) : text;
    if (!isRead) written.push({ method: request.method!, path, body });
    const answer = isRead ? (discovery(path) ?? objects[path]) : (objects[path] ?? created(path));
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    const missing = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };
    response.end(JSON.stringify(answer ?? missing));
  });
  const { url, close } = await listening(server);
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: url } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user: {} }],
      'current-context': 'c',
    }),
  );
  return { kubeconfig, written, close };
}

/** kubectl wants to see what it has created, and prints its name. */
const created = (path: string): object => {
  const isJob = path.endsWith('/jobs');
  return { apiVersion: isJob ? 'batch/v1' : 'v1', kind: isJob ? 'Job' : 'Secret', metadata: { name: 'created' } };
};

function discovery(path: string): object | undefined {
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  const version = { groupVersion: 'batch/v1', version: 'v1' };
  if (path === '/apis') {
    return { kind: 'APIGroupList', groups: [{ name: 'batch', versions: [version], preferredVersion: version }] };
  }
  const known = kinds[path as keyof typeof kinds];
  if (known === undefined) return undefined;
  const verbs = ['create', 'get', 'list', 'patch'];
  const resources = known.resources.map(([name, kind]) => ({ name, kind, namespaced: true, verbs }));
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: known.group, resources };
}
