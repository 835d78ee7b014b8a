import { execFile, spawn } from 'node:child_process';
import { createWriteStream, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../support/loopback.ts';
import { need, reasonOf, skipped } from '../support/skips.ts';

const run = promisify(execFile);

/** A third-party emulator of AWS, on PyPI: it runs without Docker, and evaluates IAM for the functions' own calls. */
const requirement = 'ministack==1.5.33';
const region = 'eu-central-1';

export interface Emulator {
  url: string;
  region: string;
  account: string;
  /** For the programs of this test: the emulator instead of AWS. */
  environment: Record<string, string>;
  /** A folder that is removed with the emulator. */
  folder: string;
  /** Where pip puts programs. */
  programs: string;
  /** Sets how much of each wait of a workflow is really waited, 0 to 1. */
  scaleWaits(scale: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Installs the emulator into a folder of its own and starts it on loopback.
 * @param others what else a test needs from PyPI
 * @returns undefined, after a line on standard error, if it cannot be installed; a later failure is thrown
 */
export async function startEmulator(...others: string[]): Promise<Emulator | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'datahub-retention-deploy-'));
  const python = await install(folder, [requirement, ...others]);
  if (python === undefined) {
    // A program that was ended for its time may still be writing.
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
    return undefined;
  }
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const credentials = {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
  };
  const log = createWriteStream(join(folder, 'emulator.log'));
  const settings = { BIND_HOST: '127.0.0.1', GATEWAY_PORT: String(port), MINISTACK_REGION: region, AUTH: 'true' };
  const emulator = spawn(python, ['-m', 'ministack'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, ...credentials, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own: stopping it also stops the functions' processes.
    detached: true,
  });
  emulator.stdout.pipe(log);
  emulator.stderr.pipe(log);
  const exited = new Promise<void>((resolve) => emulator.once('exit', () => resolve()));
  const kill = (signal: NodeJS.Signals) => {
    try {
      process.kill(-emulator.pid!, signal);
    } catch {
      // It has ended already.
    }
  };
  const abandoned = () => kill('SIGKILL');
  const ended = () => {
    abandoned();
    rmSync(folder, { recursive: true, force: true });
    process.exit(143);
  };
  process.once('exit', abandoned);
  // `.ci/run` ends its checks so; without a handler, nothing above would run.
  process.once('SIGTERM', ended);

  const stop = async () => {
    kill('SIGTERM');
    await Promise.race([exited, sleep(5000).then(() => kill('SIGKILL'))]);
    process.off('exit', abandoned);
    process.off('SIGTERM', ended);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  if (!(await isHealthy(url))) {
    await stop();
    throw new Error(`${requirement} was installed but did not answer on ${url} within 30 s`);
  }
  return {
    url,
    region,
    account: '000000000000',
    folder,
    programs: dirname(python),
    environment: { ...credentials, AWS_ENDPOINT_URL: url },
    async scaleWaits(scale) {
      const answer = await fetch(`${url}/_ministack/config`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ 'stepfunctions._SFN_WAIT_SCALE': String(scale) }),
      });
      if (!answer.ok) throw new Error(`The emulator does not scale waits: ${answer.status}`);
    },
    stop,
  };
}

/** @returns the interpreter that has the emulator */
export async function install(folder: string, requirements: readonly string[]): Promise<string | undefined> {
  const python = join(folder, 'venv', 'bin', 'python');
  try {
    need('python3');
    await run('python3', ['-m', 'venv', join(folder, 'venv')], { timeout: 300_000 });
    await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements], {
      timeout: 600_000,
    });
    return python;
  } catch (error) {
    const what = requirements.join(' and ');
    return skipped(`The deployment test is skipped: ${what} cannot be installed here (${reasonOf(error)}).`);
  }
}

async function isHealthy(url: string): Promise<boolean> {
  for (let attempt = 0; attempt < 60; attempt++) {
    const answer = await fetch(`${url}/_ministack/health`).catch(() => undefined);
    if (answer?.ok) return true;
    await sleep(500);
  }
  return false;
}
