import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../pages/commands.ts';
import { need, reasonOf, skipped } from '../support/skips.ts';
import { type Ended, writtenBy } from '../support/written.ts';
import { type ControlPlane, type Person, startControlPlane, until } from './control-plane.ts';
import { type Gms, startGms } from './gms.ts';
import { asVersion, layOut } from './image.ts';
import { type Node, startNode } from './node.ts';
import { builtCluster, type HelmVersion, helmOf, helmVersions } from './programs.ts';

/** The tag of an image that says it is this version; every other tag is what is here. */
export const laterVersion = '9.9.9';

/** A cluster with the namespace of the pages, people who may work in it, and a GMS. */
export interface Cluster {
  gms: Gms;
  /** Types a command into a shell whose folder has the chart as `kubernetes`. Throws what it wrote if it fails. */
  type(command: string, who?: Person): Promise<string>;
  /** The same; what it wrote, whatever its exit status is. */
  tryOut(command: string, who?: Person): Promise<Ended>;
  /** Types the command again until it succeeds, as a person would who is told to wait. @returns what it then printed */
  repeat(command: string, who?: Person): Promise<string>;
  /** Every command that was typed. */
  typed: string[];
  /** What an administrator does for a team: a namespace with Pod Security, in which the engineer may do everything. */
  giveNamespace(command: string): Promise<void>;
  /** Writes a file into the folder of the shell. */
  write(name: string, text: string): void;
  close(): Promise<void>;
}

/** The programs, or one line that says why there are none. */
export function findPrograms(): { folder: string; helm: Record<HelmVersion, string> } | undefined {
  try {
    if (process.getuid?.() !== 0) throw new Error('only root can run pods');
    need('go', 'unshare', 'setpriv', 'chroot');
    const helm = Object.fromEntries(helmVersions.map((version) => [version, helmOf(version)]));
    return { folder: builtCluster(), helm: helm as Record<HelmVersion, string> };
  } catch (error) {
    return skipped(`The test on a cluster is skipped: ${reasonOf(error)}.`);
  }
}

export async function startCluster(
  { folder: programs, helm }: NonNullable<ReturnType<typeof findPrograms>>,
  version: HelmVersion,
): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'datahub-retention-cluster-'));
  const shell = join(folder, 'shell');
  mkdirSync(join(shell, 'bin'), { recursive: true });
  symlinkSync(helm[version], join(shell, 'bin/helm'));
  for (const name of ['kubernetes', 'retention']) symlinkSync(join(root, name), join(shell, name));
  const begun: { close(): Promise<void> }[] = [];
  const close = async () => {
    for (const each of begun.reverse()) await each.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const gms = await startGms([]);
    begun.push(gms);
    const plane: ControlPlane = await startControlPlane(programs, folder);
    begun.push({ close: plane.stop });
    const loopback = { localhost: '127.0.0.1', 'gateway.example.com': '127.0.0.1' };
    const hosts = { ...loopback, 'datahub-datahub-gms.datahub.svc': gms.address };
    const image = layOut(join(folder, 'image'));
    const later = asVersion(laterVersion, image, join(folder, 'later'));
    const imageOf = (reference: string) => {
      if (!/(?:^|\/)datahub-retention[:@]/.test(reference)) return undefined;
      return reference.endsWith(`:${laterVersion}`) ? later : image;
    };
    const node: Node = await startNode(plane, { imageOf, hosts });
    begun.push(node);

    const typed: string[] = [];
    const tryOut = (command: string, who: Person = 'engineer') => {
      typed.push(command);
      const path = [join(shell, 'bin'), programs, dirname(process.execPath), process.env['PATH']].join(':');
      const env = { PATH: path, HOME: shell, KUBECONFIG: plane.kubeconfig[who] };
      return writtenBy(spawn('bash', ['-c', command], { cwd: shell, env, stdio: ['ignore', 'pipe', 'pipe'] })).ended;
    };
    const type = async (command: string, who?: Person) => {
      const { status, stdout, stderr } = await tryOut(command, who);
      if (status !== 0) throw new Error(`${command}\nended with ${status}: ${stderr}${stdout}`);
      return stdout;
    };
    const repeat = async (command: string, who?: Person) => {
      let ended: Ended | undefined;
      await until(
        () => `${command}: ${ended?.stderr}`,
        async () => {
          ended = await tryOut(command, who);
          return ended.status === 0;
        },
      );
      return ended!.stdout;
    };
    const write = (name: string, text: string) => writeFileSync(join(shell, name), text);
    const file = (name: string) => join(import.meta.dirname, name);
    await type(`kubectl apply -f ${file('base.yaml')}`, 'admin');
    const giveNamespace = async (command: string) => {
      const name = command.split(' ').at(-1);
      await type(command, 'admin');
      await type(`kubectl label namespace ${name} pod-security.kubernetes.io/enforce=restricted`, 'admin');
      await type(`kubectl -n ${name} apply -f ${file('namespace.yaml')}`, 'admin');
      // A controller fills the role that the engineer has.
      await until("the engineer's role", () => type(`kubectl -n ${name} auth can-i create cronjobs`).then(() => true));
    };
    await giveNamespace('kubectl create namespace datahub-retention');
    return { gms, type, tryOut, repeat, typed, giveNamespace, write, close };
  } catch (error) {
    await close();
    throw error;
  }
}
