import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, rmSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/loopback.ts';
import type { EngineKind } from './engines.ts';
import { type Prepared, prepareJava } from './java.ts';

/** The search engine or what was asked of it cannot be used: `message` is one sentence. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}

/** A search engine that the tests may do anything to. */
export interface TestEngine {
  address: string;
  /** Kills the node as a power failure would, and starts it again on the same data. */
  restart(): Promise<void>;
  /** Rejects if the engine ends without having been told to. */
  died: Promise<never>;
  /** Leaves nothing running. */
  stop(): Promise<void>;
}

const startMillis = 60_000;

/**
 * One node, from Maven, in a temporary folder.
 * @throws Skipped; Error if it is installed and does not start
 */
export async function startNode(kind: EngineKind): Promise<TestEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'retention-engine-'));
  // However these tests end, no data outlives them.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const prepared = await prepareJava(folder, kind);
  const port = await freePort();
  let fail: (error: Error) => void = () => {};
  const died = new Promise<never>((_, reject) => {
    fail = reject;
  });
  died.catch(() => {});
  let running: ChildProcess | undefined;
  const start = async () => {
    const child = await ready(prepared, kind, [join(folder, 'home'), String(port)], join(folder, 'log'));
    running = child;
    child.once('exit', (status, signal) => {
      if (running === child) fail(new EngineError(`The search engine died (${status ?? signal}).`));
    });
  };
  const stop = async () => {
    const child = running;
    running = undefined;
    await killed(child);
  };
  await start();
  const restart = () => stop().then(start);
  return { address: `http://127.0.0.1:${port}`, restart, died, stop };
}

async function ready(
  { java, classPath }: Prepared,
  { name, modules }: EngineKind,
  place: readonly [home: string, port: string],
  log: string,
): Promise<ChildProcess> {
  const child = spawn(
    java,
    [
      '-Xms512m',
      '-Xmx1g',
      '-Dlog4j2.disable.jmx=true',
      // Otherwise HTTP and the client would both set the number of processors, which fails.
      `-D${name === 'opensearch' ? name : 'es'}.set.netty.runtime.available.processors=false`,
      ...['-cp', classPath, 'EngineNode', ...place, ...modules],
    ],
    // Its standard input is ours, so it ends when these tests end, however they end.
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const written = createWriteStream(log, { flags: 'a' });
  child.stdout.pipe(written, { end: false });
  child.stderr.pipe(written, { end: false });
  await new Promise<void>((resolve, reject) => {
    const fail = (how: string) => {
      clearTimeout(timer);
      void readFile(log, 'utf8').then((text) => {
        const said = text.trim().split('\n').slice(-20).join('\n');
        reject(new Error(`The search engine ${how}:\n${said}`));
      });
    };
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail(`has not started within ${startMillis / 1000} s`);
    }, startMillis);
    child.stdout.on('data', (part: Buffer) => {
      if (!part.toString().includes('ready')) return;
      clearTimeout(timer);
      resolve();
    });
    child.once('exit', (status, signal) => fail(`ended at its start (${status ?? signal})`));
    child.once('error', (error) => fail(`cannot be started (${error.message})`));
  });
  child.removeAllListeners('exit');
  return child;
}

async function killed(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}
