import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, rmSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineError } from '../../operations-service/opensearch/address.ts';
import type { EngineKind } from './engines.ts';
import { type Prepared, prepareJava } from './java.ts';

/** A search engine that the tests may do anything to. */
export interface TestEngine {
  address: string;
  /** Kills the node as a power failure would, and starts it again on the same data. Omitted if the node is not ours. */
  restart?: () => Promise<void>;
  /** Rejects if the engine ends without having been told to. */
  died: Promise<never>;
  /** Leaves nothing running, and nothing behind that was not there before. */
  stop(): Promise<void>;
}

const startMillis = 60_000;

/**
 * One node, from Maven, in a temporary folder.
 * @throws Skipped; Error if it is installed and does not start
 */
export async function startNode(kind: EngineKind): Promise<TestEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'retention-engine-'));
  const log = join(folder, 'log');
  // However these tests end, no data outlives them.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const started: { child?: ChildProcess } = {};
  let fail: (error: Error) => void = () => {};
  const died = new Promise<never>((_, reject) => {
    fail = reject;
  });
  died.catch(() => {});
  try {
    const prepared = await prepareJava(folder, kind);
    const port = await freePort();
    const start = async () => {
      const child = await ready(prepared, kind, [join(folder, 'home'), String(port)], log);
      started.child = child;
      child.once('exit', (status, signal) => {
        if (started.child === child) fail(new EngineError(`The search engine died (${status ?? signal}).`));
      });
    };
    const end = async () => {
      const { child } = started;
      delete started.child;
      await killed(child);
    };
    await start();
    return {
      address: `http://127.0.0.1:${port}`,
      async restart() {
        await end();
        await start();
      },
      died,
      async stop() {
        await end();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await killed(started.child);
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
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

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
