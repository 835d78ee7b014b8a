import { mkdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from './control-plane.ts';
import { type Place, Pod, type PodObject } from './pod.ts';

/**
 * The only node: runs each pod's container as a process of this machine, serves its log to kubectl, and makes volumes of
 * folders. It has no network, probes, limits or image registry; the test has its images.
 */

export interface Node {
  close(): Promise<void>;
}

const nodeName = 'node-1';
/** Claims of this class get a folder. */
export const storageClass = 'folders';

export async function startNode(
  cluster: ControlPlane,
  { imageOf, hosts }: Pick<Place, 'imageOf' | 'hosts'>,
): Promise<Node> {
  const { api } = cluster;
  const pods = new Map<string, Pod>();
  const { host, port } = cluster;
  const place = { folder: join(cluster.folder, 'pods'), imageOf, hosts, api, apiServer: { host, port }, nodeName };
  const runs: Promise<void>[] = [];
  let isOpen = true;

  const server = createServer(cluster.certificate, (asked, answer) => void serveLog(pods.values(), asked, answer));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await register(api, (server.address() as AddressInfo).port);

  const watched = loop(async () => {
    const { body } = await api<{ items: PodObject[] }>('GET', `/api/v1/pods?fieldSelector=spec.nodeName%3D${nodeName}`);
    const there = new Set<string>();
    for (const item of body.items) {
      there.add(item.metadata.uid);
      let pod = pods.get(item.metadata.uid);
      if (pod === undefined) {
        pod = new Pod(item, place);
        pods.set(item.metadata.uid, pod);
        runs.push(pod.run().catch(({ message }: Error) => console.error(`The pod ${item.metadata.name}: ${message}`)));
      }
      if (item.metadata.deletionTimestamp !== undefined) pod.end(item.metadata.deletionGracePeriodSeconds ?? 30);
    }
    for (const [uid, pod] of pods) {
      if (there.has(uid)) continue;
      pod.end(0);
      pods.delete(uid);
    }
  });
  const provided = loop(() => provideFolders(cluster));

  async function loop(step: () => Promise<void>): Promise<void> {
    while (isOpen) {
      await step().catch((error: Error) => isOpen && console.error(`The node: ${error.message}`));
      await sleep(250);
    }
  }

  return {
    async close() {
      isOpen = false;
      await Promise.all([watched, provided]);
      for (const pod of pods.values()) pod.end(0);
      await Promise.all(runs);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function register(api: ControlPlane['api'], port: number): Promise<void> {
  const labels = { 'kubernetes.io/hostname': nodeName, 'kubernetes.io/os': 'linux' };
  await api('POST', '/api/v1/nodes', { metadata: { name: nodeName, labels } });
  const room = { cpu: '4', memory: '16Gi', pods: '110' };
  await api('PATCH', `/api/v1/nodes/${nodeName}/status`, {
    status: {
      capacity: room,
      allocatable: room,
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
    },
  });
  // Every new node has one, until the controller that is switched off here would remove it.
  await api('PATCH', `/api/v1/nodes/${nodeName}`, { spec: { taints: null } });
}

interface Claim {
  metadata: { name: string; namespace: string; uid: string; annotations?: Record<string, string> };
  spec: { storageClassName?: string; volumeName?: string; accessModes: string[]; resources: { requests: object } };
}

/** What a provisioner does; a folder is kept when its claim is deleted. */
async function provideFolders({ api, folder }: ControlPlane): Promise<void> {
  const { body } = await api<{ items: Claim[] }>('GET', '/api/v1/persistentvolumeclaims');
  for (const { metadata, spec } of body.items) {
    if (spec.storageClassName !== storageClass || spec.volumeName !== undefined) continue;
    // The scheduler names the node of the first pod that uses it.
    if (metadata.annotations?.['volume.kubernetes.io/selected-node'] === undefined) continue;
    const path = join(folder, 'volumes', metadata.uid);
    mkdirSync(path, { recursive: true });
    const { name, namespace, uid } = metadata;
    await api('POST', '/api/v1/persistentvolumes', {
      metadata: { name: `folder-${uid}` },
      spec: {
        capacity: spec.resources.requests,
        accessModes: spec.accessModes,
        storageClassName: storageClass,
        persistentVolumeReclaimPolicy: 'Retain',
        hostPath: { path },
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid },
      },
    });
  }
}

/** `kubectl logs`: the API server asks the node for `/containerLogs/NAMESPACE/POD/CONTAINER`. */
async function serveLog(pods: Iterable<Pod>, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const url = new URL(asked.url!, 'https://node');
  const [, kind, namespace, name, container] = url.pathname.split('/');
  const pod = [...pods].find((one) => one.namespace === namespace && one.name === name);
  if (kind !== 'containerLogs' || pod === undefined || !pod.hasStarted) {
    const waiting = `container "${container}" in pod "${name}" is waiting to start: ${pod?.waiting ?? 'ContainerCreating'}`;
    answer.writeHead(400, { 'content-type': 'text/plain' }).end(waiting);
    return;
  }
  answer.writeHead(200, { 'content-type': 'text/plain' });
  const follows = url.searchParams.get('follow') === 'true';
  for (let sent = 0; !answer.destroyed; await sleep(100)) {
    const { isOver } = pod;
    const text = pod.log(sent);
    sent += text.length;
    answer.write(text);
    if (!follows || isOver) break;
  }
  answer.end();
}
