import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { freePort } from '../support/loopback.ts';
import { kubernetesVersion } from './programs.ts';

/** Who may ask this API server, each with a token of its own: name and group. */
const people = {
  admin: ['admin', 'system:masters'],
  node: ['node', 'system:masters'],
  scheduler: ['system:kube-scheduler', ''],
  controllers: ['system:kube-controller-manager', ''],
  /** Administers the namespace: installs and upgrades. */
  engineer: ['engineer', ''],
  /** Has the role of docs/kubernetes.md. */
  onCall: ['on-call', ''],
} as const;
export type Person = keyof typeof people;

export interface ControlPlane {
  folder: string;
  /** Of the API server. */
  host: string;
  port: number;
  /** The file for kubectl and helm, for each person. */
  kubeconfig: Record<Person, string>;
  /** Certificate and key of the API server, which it has made itself. */
  certificate: { cert: string; key: string };
  /** As the node. */
  api<T>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Answer<T>>;
  stop(): Promise<void>;
}

export interface Answer<T> {
  status: number;
  body: T;
}

/**
 * etcd, API server, controllers and scheduler on 127.0.0.1, as processes that end with this one.
 * @param programs the folder with them
 * @param folder for their state and logs
 */
export async function startControlPlane(programs: string, folder: string): Promise<ControlPlane> {
  const started: ChildProcess[] = [];
  const at = (...path: string[]) => join(folder, ...path);
  const start = (name: string, args: string[]) => {
    const log = openSync(at(`${name}.log`), 'a');
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', join(programs, name), ...args], {
      stdio: ['ignore', log, log],
      cwd: folder,
    });
    started.push(child);
  };
  const [etcd, peer, port] = [await freePort(), await freePort(), await freePort()];
  const etcdUrl = `http://127.0.0.1:${etcd}`;
  const peerUrl = `http://127.0.0.1:${peer}`;
  const server = `https://127.0.0.1:${port}`;

  const tokens = Object.fromEntries(Object.keys(people).map((name) => [name, randomBytes(16).toString('hex')]));
  const rows = Object.entries(people).map(([name, [user, group]]) => `${tokens[name]},${user},${name},"${group}"`);
  writeFileSync(at('tokens.csv'), rows.join('\n'), { mode: 0o600 });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(at('accounts.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  const kubeconfig = Object.fromEntries(
    Object.keys(people).map((name) => {
      const cluster = { server, 'certificate-authority': at('certificates/apiserver.crt') };
      const config = {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
        users: [{ name: 'u', user: { token: tokens[name] } }],
        'current-context': 'c',
      };
      writeFileSync(at(`${name}.kubeconfig`), JSON.stringify(config), { mode: 0o600 });
      return [name, at(`${name}.kubeconfig`)];
    }),
  ) as ControlPlane['kubeconfig'];

  start('etcd', [
    ...[
      '--data-dir',
      at('etcd'),
      '--unsafe-no-fsync',
      '--log-level',
      'warn',
      '--initial-cluster',
      `default=${peerUrl}`,
    ],
    ...['--listen-client-urls', etcdUrl, '--advertise-client-urls', etcdUrl],
    ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
  ]);
  start('kube-apiserver', [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${at('certificates')}`,
    `--token-auth-file=${at('tokens.csv')}`,
    '--authorization-mode=RBAC',
    `--service-account-issuer=${server}`,
    `--service-account-key-file=${at('accounts.key')}`,
    `--service-account-signing-key-file=${at('accounts.key')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--endpoint-reconciler-type=none',
    '--kubelet-preferred-address-types=InternalIP',
  ]);

  let agent: Agent | undefined;
  const api: ControlPlane['api'] = async (method, path, body) => {
    agent ??= new Agent({ connect: { ca: readFileSync(at('certificates/apiserver.crt')) } });
    const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    const answer = await request(`${server}${path}`, {
      dispatcher: agent,
      method,
      headers: { authorization: `Bearer ${tokens['node']}`, 'content-type': type },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    // biome-ignore lint/suspicious/noExplicitAny: whatever Kubernetes answers
    return { status: answer.statusCode, body: (text.startsWith('{') ? JSON.parse(text) : text) as any };
  };
  const stop = async () => {
    const running = started.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const ended = running.map((child) => new Promise((resolve) => child.once('exit', resolve)));
    // What is in etcd is thrown away: there is nothing to be ended in order.
    for (const child of running) child.kill('SIGKILL');
    await Promise.all(ended);
    await agent?.destroy();
  };

  try {
    await until('the API server', () => api('GET', '/readyz').then(({ status }) => status === 200));
    start('kube-controller-manager', [
      `--kubeconfig=${kubeconfig.controllers}`,
      `--service-account-private-key-file=${at('accounts.key')}`,
      `--root-ca-file=${at('certificates/apiserver.crt')}`,
      '--use-service-account-credentials=true',
      '--controllers=*,-node-lifecycle-controller',
      '--leader-elect=false',
      '--secure-port=0',
    ]);
    start('kube-scheduler', [`--kubeconfig=${kubeconfig.scheduler}`, '--leader-elect=false', '--secure-port=0']);
    // Pods need it, and a controller makes it.
    await until('the first service account', () =>
      api('GET', '/api/v1/namespaces/default/serviceaccounts/default').then(({ status }) => status === 200),
    );
  } catch (error) {
    await stop();
    const log = readFileSync(at('kube-apiserver.log'), 'utf8').trim().split('\n').slice(-5).join('\n');
    throw new Error(`Kubernetes ${kubernetesVersion}: ${(error as Error).message}\n${log}`);
  }
  const certificate = {
    cert: readFileSync(at('certificates/apiserver.crt'), 'utf8'),
    key: readFileSync(at('certificates/apiserver.key'), 'utf8'),
  };
  return { folder, host: '127.0.0.1', port, kubeconfig, certificate, api, stop };
}

/** Throws when what is waited for has not come true after two minutes. */
export async function until(what: string | (() => string), condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 120_000;
  while (Date.now() < end) {
    if (await Promise.resolve(condition()).catch(() => false)) return;
    await sleep(200);
  }
  throw new Error(`${typeof what === 'string' ? what : what()}: not after two minutes`);
}
