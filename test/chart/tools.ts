import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HelmVersion, helmOf } from '../cluster/programs.ts';
import { reasonOf, skipped } from '../support/skips.ts';

/** helm, and the checker of manifests; undefined, with a message, where they cannot be had. */

const newest = '1.37.0';
const checkerPackage = `kubernetes-validate==${newest}`;

export interface Tools {
  /** Runs helm and returns its output. Throws what it writes to standard error. */
  helm(...args: string[]): string;
  /** Checks manifests against the API's schemas of a release. Throws what is wrong with them. */
  check(manifests: string, release: string): void;
  /** The file with Kubernetes' own definitions. */
  definitions: string;
}

/** @param folder for what is installed and written */
export function findTools(folder: string): Tools | undefined {
  const helm = findHelm();
  const checker = installChecker(folder);
  if (helm === undefined || checker === undefined) return undefined;
  return {
    helm: (...args) => run(helm, args),
    definitions: run(join(folder, 'venv/bin/python'), [
      '-c',
      `import kubernetes_validate as k; print(k.__path__[0] + '/kubernetes-json-schema/v${newest}-local-strict/_definitions.json', end='')`,
    ]),
    check(manifests, release) {
      const file = join(folder, 'manifests.yaml');
      writeFileSync(file, manifests);
      run(checker, ['--strict', '-k', release, file]);
    },
  };
}

/** Of the project of suites.config.ts. */
export function findHelm(): string | undefined {
  const version = process.env['HELM'] as HelmVersion;
  try {
    return helmOf(version);
  } catch (error) {
    return notInstalled(version, reasonOf(error));
  }
}

function installChecker(folder: string): string | undefined {
  const venv = join(folder, 'venv');
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', checkerPackage];
  if (works('python3', ['-m', 'venv', venv]) && works(join(venv, 'bin/python'), pip)) {
    return join(venv, 'bin/kubernetes-validate');
  }
  return notInstalled(checkerPackage, 'it needs Python 3 and PyPI');
}

function works(program: string, args: string[], env: NodeJS.ProcessEnv = {}): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore', env: { ...process.env, ...env }, timeout: 500_000 });
    return true;
  } catch {
    return false;
  }
}

function run(program: string, args: string[]): string {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')}: ${stderr}${stdout}`);
  }
}

/** Where the tools of one test run are; removed by `remove`. */
export function toolsFolder(): { folder: string; remove(): void } {
  const folder = join(tmpdir(), `datahub-retention-chart-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const notInstalled = (what: string, why: string): undefined =>
  skipped(`The test of the chart is skipped: ${what} cannot be installed here (${why}).`);
