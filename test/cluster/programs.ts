import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** What the tests of the chart need, built from Go modules once and kept between runs in the user's cache folder. */

const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'datahub-retention', 'programs');

export const kubernetesVersion = '1.34.4';
export const helmModules = {
  'Helm 3': 'helm.sh/helm/v3/cmd/helm@v3.19.0',
  'Helm 4': 'helm.sh/helm/v4/cmd/helm@v4.3.1',
} as const;
export type HelmVersion = keyof typeof helmModules;
export const helmVersions = Object.keys(helmModules) as HelmVersion[];

/** @returns the file: from the PATH if it is this version, otherwise built. Throws what Go says, in one line. */
export function helmOf(version: HelmVersion): string {
  const [, path = '', installed = ''] = /^(.*)\n(v\d)/.exec(output('command -v helm && helm version --short')) ?? [];
  return installed === version.replace('Helm ', 'v') ? path : builtModule('helm', helmModules[version]);
}

/** Prometheus' own programs, by the Debian package that has them. */
const packages = {
  promtool: 'prometheus',
  prometheus: 'prometheus',
  'prometheus-pushgateway': 'prometheus-pushgateway',
} as const;

/** Of Debian's package, where there is no other; undefined if it cannot be had. */
export function programOfPrometheus(name: keyof typeof packages): string | undefined {
  const installed = output(`command -v ${name}`).trim();
  if (installed !== '') return installed;
  try {
    const programs = kept(`debian-${packages[name]}`, (folder) => {
      const unpack = `apt-get download --quiet ${packages[name]} && dpkg-deb --extract *.deb .`;
      execFileSync('sh', ['-c', unpack], { cwd: folder, stdio: 'pipe' });
      return 'usr/bin';
    });
    return join(programs, name);
  } catch {
    return undefined;
  }
}

/** What a shell prints, or nothing if the command fails. */
function output(command: string): string {
  try {
    return execFileSync('sh', ['-c', command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}

/** A command of a module, by its path with the version. */
export const builtModule = (name: string, module: string): string =>
  kept(`${name}-${module.replace(/^.*@/, '')}`, (folder) => {
    go(['install', '-ldflags=-s -w', module], { env: { ...process.env, GOBIN: folder } });
    return name;
  });

/** @returns the folder with etcd, kubectl and the three programs of a control plane, which are one file */
export function builtCluster(): string {
  const file = kept(
    `kubernetes-${kubernetesVersion}`,
    (folder) => {
      copyFileSync(join(import.meta.dirname, 'programs/main.go'), join(folder, 'main.go'));
      writeFileSync(join(folder, 'go.mod'), moduleFile());
      go(['mod', 'tidy'], { cwd: folder });
      const version = `-X k8s.io/component-base/version.gitVersion=v${kubernetesVersion}`;
      const [major, minor] = kubernetesVersion.split('.');
      const numbers = `-X k8s.io/component-base/version.gitMajor=${major} -X k8s.io/component-base/version.gitMinor=${minor}`;
      go(['build', '-ldflags', `-s -w ${version} ${numbers}`, '-o', 'kube', '.'], { cwd: folder });
      return 'kube';
    },
    ', which takes a quarter of an hour on two cores',
  );
  const folder = `${file}-bin`;
  mkdirSync(folder, { recursive: true });
  for (const name of ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl']) {
    if (!existsSync(join(folder, name))) symlinkSync(file, join(folder, name));
  }
  return folder;
}

/** The module of Kubernetes itself is used by nobody else: it takes its own libraries from beside it, and so do we. */
function moduleFile(): string {
  const module = `k8s.io/kubernetes@v${kubernetesVersion}`;
  const { GoMod } = JSON.parse(go(['mod', 'download', '-json', module])) as { GoMod: string };
  const theirs = readFileSync(GoMod, 'utf8');
  const libraries = [...theirs.matchAll(/^\s*(k8s\.io\/[\w-]+) => \.\/staging\//gm)].map(([, name]) => name!);
  const version = `v0.${kubernetesVersion.replace(/^1\./, '')}`;
  return [
    'module cluster',
    ...(/^go .*$/m.exec(theirs) ?? []),
    ...(/^godebug .*$/m.exec(theirs) ?? []),
    `require ${module.replace('@', ' ')}`,
    ...libraries.map((name) => `replace ${name} => ${name} ${version}`),
    '',
  ].join('\n');
}

/** Builds in a folder of its own, so that a build that is interrupted leaves nothing that looks whole. */
function kept(name: string, build: (folder: string) => string, takes = ''): string {
  const file = join(cache, name);
  if (existsSync(file)) return file;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'building-'));
  try {
    console.error(`Building ${name}, once${takes}; it is kept in ${cache}.`);
    renameSync(join(folder, build(folder)), file);
    return file;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function go(args: string[], options: ExecFileSyncOptions = {}): string {
  try {
    const limits = { timeout: 3_600_000, maxBuffer: 64 << 20 };
    return execFileSync('go', args, { encoding: 'utf8', stdio: 'pipe', ...limits, ...options }) as string;
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    throw new Error(`go ${args[0]}: ${(stderr.trim() || message).split('\n').at(-1)}`);
  }
}
