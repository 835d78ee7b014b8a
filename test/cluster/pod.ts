import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from './control-plane.ts';
import { type Image, nodeInImage, ofThisMachine } from './image.ts';

type KeyOf = { name: string; key: string };

interface Context {
  runAsUser?: number;
  runAsGroup?: number;
  fsGroup?: number;
  runAsNonRoot?: boolean;
  readOnlyRootFilesystem?: boolean;
  allowPrivilegeEscalation?: boolean;
}

type Items = { key: string; path: string }[];

interface Source {
  configMap?: { name: string; items?: Items };
  secret?: { name?: string; secretName?: string; items?: Items };
  serviceAccountToken?: { path: string; expirationSeconds: number };
  downwardAPI?: { items: { path: string; fieldRef: { fieldPath: string } }[] };
}

interface Volume extends Source {
  name: string;
  persistentVolumeClaim?: { claimName: string };
  emptyDir?: object;
  projected?: { sources: Source[] };
}

export interface PodObject {
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    deletionTimestamp?: string;
    deletionGracePeriodSeconds?: number;
  };
  spec: {
    serviceAccountName?: string;
    securityContext?: Context;
    volumes?: Volume[];
    containers: [
      {
        name: string;
        image: string;
        command?: string[];
        args?: string[];
        env?: {
          name: string;
          value?: string;
          /** A field is the namespace: the chart asks for no other. */
          valueFrom?: { secretKeyRef?: KeyOf; configMapKeyRef?: KeyOf; fieldRef?: object };
        }[];
        securityContext?: Context;
        volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
      },
    ];
  };
}

export interface Place {
  folder: string;
  /** By its name and tag. */
  imageOf(reference: string): Image | undefined;
  hosts: Record<string, string>;
  api: ControlPlane['api'];
  apiServer: { host: string; port: number };
  nodeName: string;
}

/** Why a container cannot start yet, as `kubectl get pods` and the pod's events say it. */
class NotYet extends Error {
  readonly reason: 'ContainerCreating' | 'CreateContainerConfigError' | 'ImagePullBackOff';
  constructor(reason: NotYet['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

const now = () => new Date().toISOString().replace(/\.\d+/, '');

/** One pod, from the moment that it is given to the node until it is deleted. */
export class Pod {
  readonly namespace: string;
  readonly name: string;
  waiting = 'ContainerCreating';
  hasStarted = false;
  isOver = false;
  private readonly object: PodObject;
  private readonly place: Place;
  private readonly path: string;
  private readonly folder: string;
  private process: ChildProcess | undefined;
  private isEnding = false;

  constructor(object: PodObject, place: Place) {
    this.object = object;
    this.place = place;
    this.namespace = object.metadata.namespace;
    this.name = object.metadata.name;
    this.path = `/api/v1/namespaces/${this.namespace}/pods/${this.name}`;
    this.folder = join(place.folder, object.metadata.uid);
    mkdirSync(join(this.folder, 'root'), { recursive: true });
    writeFileSync(join(this.folder, 'log'), '');
  }

  log = (from: number): Buffer => readFileSync(join(this.folder, 'log')).subarray(from);

  /** SIGTERM, and SIGKILL when the time is over, as for every pod that is deleted. */
  end(graceSeconds: number): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.signal('SIGTERM');
    setTimeout(() => this.signal('SIGKILL'), graceSeconds * 1000).unref();
  }

  async run(): Promise<void> {
    const startedAt = now();
    const start = await this.whatStarts();
    if (start !== undefined) {
      await this.report('Running', { running: { startedAt } }, true);
      const refreshing = setInterval(() => void this.refresh(), 1000);
      const exitCode = await this.execute(start);
      clearInterval(refreshing);
      this.isOver = true;
      const reason = exitCode === 0 ? 'Completed' : 'Error';
      const state = { terminated: { exitCode, reason, startedAt, finishedAt: now(), containerID: this.id() } };
      await this.report(exitCode === 0 ? 'Succeeded' : 'Failed', state, false);
    }
    while (!this.isEnding) await sleep(200);
    await this.place.api('DELETE', this.path, {
      gracePeriodSeconds: 0,
      preconditions: { uid: this.object.metadata.uid },
    });
  }

  /** Waits, as a pod does, for what it needs; undefined if it is deleted before. */
  private async whatStarts(): Promise<Start | undefined> {
    for (let said = ''; !this.isEnding; await sleep(500)) {
      try {
        return await this.prepare();
      } catch (error) {
        if (!(error instanceof NotYet)) throw error;
        this.waiting = error.reason;
        if (said === error.message) continue;
        said = error.message;
        await this.report('Pending', { waiting: { reason: error.reason, message: error.message } }, false);
        const reason = error.reason === 'ContainerCreating' ? 'FailedMount' : 'Failed';
        await this.event(reason, error.reason === 'CreateContainerConfigError' ? `Error: ${said}` : said);
      }
    }
    return undefined;
  }

  private async prepare(): Promise<Start> {
    const { securityContext: ofPod = {}, containers } = this.object.spec;
    const [container] = containers;
    const image = this.place.imageOf(container.image);
    if (image === undefined) {
      throw new NotYet('ImagePullBackOff', `Back-off pulling image "${container.image}"`);
    }
    const context = { ...ofPod, ...container.securityContext };
    const range = await this.usersOfNamespace();
    const user = context.runAsUser ?? range ?? image.user;
    // OpenShift leaves the group of a user without a name at 0.
    const group = context.runAsGroup ?? (user === image.user ? image.group : 0);
    if (user === 0 && context.runAsNonRoot) {
      throw new NotYet('CreateContainerConfigError', 'container has runAsNonRoot and image will run as root');
    }
    const fsGroup = context.fsGroup ?? range;
    const volumes = await this.volumes(fsGroup);
    return { image, user, group, fsGroup, context, volumes, env: await this.environment() };
  }

  /** The first user of the namespace's range, which OpenShift gives to a pod that names none. */
  private async usersOfNamespace(): Promise<number | undefined> {
    const { body } = await this.place.api<{ metadata: { annotations?: Record<string, string> } }>(
      'GET',
      `/api/v1/namespaces/${this.namespace}`,
    );
    const range = body.metadata.annotations?.['openshift.io/sa.scc.uid-range'];
    return range === undefined ? undefined : Number(range.split('/')[0]);
  }

  private async volumes(fsGroup: number | undefined): Promise<Record<string, string>> {
    const folders: Record<string, string> = {};
    for (const volume of this.object.spec.volumes ?? []) {
      const folder = await this.folderOf(volume);
      if (fsGroup !== undefined) giveTo(fsGroup, folder);
      folders[volume.name] = folder;
    }
    return folders;
  }

  private async folderOf(volume: Volume): Promise<string> {
    const { name, persistentVolumeClaim, emptyDir } = volume;
    const own = join(this.folder, 'volumes', name);
    const fails = (why: string) =>
      new NotYet('ContainerCreating', `MountVolume.SetUp failed for volume "${name}" : ${why}`);
    if (persistentVolumeClaim !== undefined) {
      const { claimName } = persistentVolumeClaim;
      const claim = await this.get<{ spec: { volumeName?: string } }>('persistentvolumeclaims', claimName);
      const volume = await this.place.api<{ spec: { hostPath: { path: string } } }>(
        'GET',
        `/api/v1/persistentvolumes/${claim?.spec.volumeName}`,
      );
      if (volume.status !== 200) throw fails(`unbound claim ${claimName}`);
      return volume.body.spec.hostPath.path;
    }
    mkdirSync(own, { recursive: true });
    if (emptyDir !== undefined) {
      chmodSync(own, 0o777);
      return own;
    }
    const files = await this.filesOf(volume).catch((error: Error) => {
      throw fails(error.message);
    });
    if (files === undefined) throw fails('this node knows no such kind of volume');
    publish(own, files);
    return own;
  }

  /** What is in a volume that is made of objects of the API; undefined for another kind. */
  private async filesOf({ projected, ...source }: Volume): Promise<Record<string, string> | undefined> {
    const all = await Promise.all((projected?.sources ?? [source]).map((each) => this.filesOfSource(each)));
    return all.includes(undefined) ? undefined : Object.assign({}, ...all);
  }

  private async filesOfSource(source: Source): Promise<Record<string, string> | undefined> {
    const { configMap, secret, serviceAccountToken, downwardAPI } = source;
    if (serviceAccountToken !== undefined) return { [serviceAccountToken.path]: await this.accountToken() };
    if (downwardAPI !== undefined)
      return Object.fromEntries(downwardAPI.items.map(({ path }) => [path, this.namespace]));
    const [kind, { name, items }] = configMap
      ? (['configmap', configMap] as const)
      : (['secret', { name: secret?.secretName ?? secret?.name ?? '', items: secret?.items }] as const);
    if (configMap === undefined && secret === undefined) return undefined;
    const data = (await this.get<{ data?: Record<string, string> }>(`${kind}s`, name))?.data;
    if (data === undefined) throw new Error(`${kind} "${name}" not found`);
    const wanted = items ?? Object.keys(data).map((each) => ({ key: each, path: each }));
    return Object.fromEntries(
      wanted.map(({ key, path }) => {
        const value = data[key];
        if (value === undefined)
          throw new Error(`references non-existent ${kind === 'secret' ? kind : 'config'} key: ${key}`);
        return [path, kind === 'secret' ? Buffer.from(value, 'base64').toString() : value];
      }),
    );
  }

  private async accountToken(): Promise<string> {
    const { name, uid } = this.object.metadata;
    const account = this.object.spec.serviceAccountName ?? 'default';
    const { body } = await this.place.api<{ status: { token: string } }>(
      'POST',
      `/api/v1/namespaces/${this.namespace}/serviceaccounts/${account}/token`,
      { spec: { expirationSeconds: 3600, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid } } },
    );
    return body.status.token;
  }

  /** As the kubelet does each minute: what has changed in the API changes in the volume. */
  private async refresh(): Promise<void> {
    for (const volume of this.object.spec.volumes ?? []) {
      if (volume.secret === undefined && volume.configMap === undefined) continue;
      const files = await this.filesOf(volume).catch(() => undefined);
      if (files !== undefined) publish(join(this.folder, 'volumes', volume.name), files);
    }
  }

  private async environment(): Promise<Record<string, string>> {
    const env: Record<string, string> = {
      PATH: '/image:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOSTNAME: this.name,
      HOME: '/',
      KUBERNETES_SERVICE_HOST: this.place.apiServer.host,
      KUBERNETES_SERVICE_PORT: `${this.place.apiServer.port}`,
    };
    for (const { name, value = '', valueFrom } of this.object.spec.containers[0].env ?? []) {
      const { secretKeyRef, configMapKeyRef, fieldRef } = valueFrom ?? {};
      env[name] = secretKeyRef
        ? Buffer.from(await this.valueOf('Secret', secretKeyRef), 'base64').toString()
        : configMapKeyRef
          ? await this.valueOf('ConfigMap', configMapKeyRef)
          : fieldRef
            ? this.namespace
            : value;
    }
    return env;
  }

  private async valueOf(kind: 'Secret' | 'ConfigMap', { name, key }: { name: string; key: string }): Promise<string> {
    const plural = `${kind.toLowerCase()}s`;
    const found = await this.get<{ data?: Record<string, string> }>(plural, name);
    if (found === undefined)
      throw new NotYet('CreateContainerConfigError', `${kind.toLowerCase()} "${name}" not found`);
    const value = found.data?.[key];
    if (value === undefined) {
      const place = `${this.namespace}/${name}`;
      throw new NotYet('CreateContainerConfigError', `couldn't find key ${key} in ${kind} ${place}`);
    }
    return value;
  }

  private async get<T>(kind: string, name: string): Promise<T | undefined> {
    const { status, body } = await this.place.api<T>('GET', `/api/v1/namespaces/${this.namespace}/${kind}/${name}`);
    return status === 200 ? body : undefined;
  }

  /** As the first process of its own namespaces: a signal reaches the program itself, and no default ends it. */
  private execute({ image, user, group, fsGroup, context, volumes, env }: Start): Promise<number> {
    const { hosts } = this.place;
    const [container] = this.object.spec.containers;
    const root = join(this.folder, 'root');
    const hostsFile = join(this.folder, 'hosts');
    writeFileSync(
      hostsFile,
      Object.entries(hosts)
        .map(([name, address]) => `${address} ${name}\n`)
        .join(''),
    );
    const bind = (source: string, path: string, readOnly: boolean) => [
      `mkdir -p '${root}${path}' 2>/dev/null || true`,
      `mount --rbind '${source}' '${root}${path}'`,
      ...(readOnly ? [`mount -o remount,bind,ro '${root}${path}'`] : []),
    ];
    const mounts = (container.volumeMounts ?? []).flatMap(({ name, mountPath, readOnly }) =>
      bind(volumes[name]!, mountPath, readOnly ?? false),
    );
    const groups = fsGroup === undefined ? '--clear-groups' : `--groups=${fsGroup}`;
    const privileges = context.allowPrivilegeEscalation === false ? '--no-new-privs' : '';
    const script = [
      'set -e',
      `echo '${this.name}' > /proc/sys/kernel/hostname`,
      `mount --bind '${image.root}' '${root}'`,
      ...ofThisMachine.flatMap((path) => bind(path, path, true)),
      ...bind(process.execPath, nodeInImage, true),
      ...bind(hostsFile, '/etc/hosts', true),
      ...bind('/dev', '/dev', false),
      `mount -t proc proc '${root}/proc'`,
      ...mounts,
      context.readOnlyRootFilesystem ? `mount -o remount,bind,ro '${root}'` : '',
      `cd '${root}'`,
      `exec chroot . setpriv --reuid=${user} --regid=${group} ${groups} --inh-caps=-all --bounding-set=-all ${privileges} -- env -C '${image.workingFolder}' "$@"`,
    ].join('\n');
    const command = [...(container.command ?? image.entrypoint), ...(container.args ?? [])];
    const log = openSync(join(this.folder, 'log'), 'a');
    const unshared = ['unshare', '--mount', '--uts', '--pid', '--fork', '--kill-child', '--propagation', 'private'];
    this.process = spawn('setpriv', ['--pdeathsig', 'KILL', ...unshared, 'sh', '-c', script, 'pod', ...command], {
      env,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.hasStarted = true;
    const { process: child } = this;
    return new Promise((resolve) =>
      child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGKILL' ? 137 : 143))),
    );
  }

  private signal(signal: NodeJS.Signals): void {
    const { pid, exitCode } = this.process ?? {};
    if (pid === undefined || exitCode !== null) return;
    try {
      const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
      process.kill(Number(first), signal);
    } catch {
      // It has ended in between.
    }
  }

  private id = () => `process://${this.object.metadata.uid}`;

  private async report(phase: string, state: object, ready: boolean): Promise<void> {
    const { name, image } = this.object.spec.containers[0];
    const status = ready ? 'True' : 'False';
    const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status, lastTransitionTime: now() }));
    const containerStatuses = [
      { name, image, imageID: '', ready, started: ready, restartCount: 0, state, containerID: this.id() },
    ];
    await this.place.api('PATCH', `${this.path}/status`, {
      metadata: { uid: this.object.metadata.uid },
      status: { phase, hostIP: '127.0.0.1', startTime: now(), conditions, containerStatuses },
    });
  }

  private async event(reason: string, message: string): Promise<void> {
    const { namespace, name } = this;
    await this.place.api('POST', `/api/v1/namespaces/${namespace}/events`, {
      metadata: { generateName: `${name}.`, namespace },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid: this.object.metadata.uid },
      type: 'Warning',
      reason,
      message,
      source: { component: 'kubelet', host: this.place.nodeName },
      firstTimestamp: now(),
      lastTimestamp: now(),
      count: 1,
    });
  }
}

interface Start {
  image: Image;
  user: number;
  group: number;
  fsGroup: number | undefined;
  context: Context;
  volumes: Record<string, string>;
  env: Record<string, string>;
}

/**
 * Writes a volume as the kubelet does: into a dated folder, to which the link `..data` is then moved, so that a reader
 * finds the old files or the new ones. Nothing is written where nothing has changed.
 */
function publish(folder: string, files: Record<string, string>): void {
  const data = join(folder, '..data');
  const isSame = Object.entries(files).every(
    ([path, text]) => existsSync(join(data, path)) && readFileSync(join(data, path), 'utf8') === text,
  );
  if (isSame) return;
  const dated = `..${new Date().toISOString().replace(/[-T:]/g, '_').replace('Z', '')}`;
  mkdirSync(join(folder, dated));
  for (const [path, text] of Object.entries(files)) {
    writeFileSync(join(folder, dated, path), text);
    if (!existsSync(join(folder, path))) symlinkSync(join('..data', path), join(folder, path));
  }
  symlinkSync(dated, `${data}_tmp`);
  renameSync(`${data}_tmp`, data);
}

/** As `fsGroup` does: the group owns everything, and may write. */
function giveTo(group: number, folder: string): void {
  for (const path of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    const each = join(folder, path);
    const stat = statSync(each);
    chownSync(each, stat.uid, group);
    chmodSync(each, stat.mode | (stat.isDirectory() ? 0o2070 : 0o060));
  }
}
