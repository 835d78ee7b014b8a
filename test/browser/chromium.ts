import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'undici';

/** A headless Chromium, driven through its DevTools protocol. */

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** @returns the program, or undefined, with a message, where there is none */
export function findChromium(): string | undefined {
  const found = names.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
  if (found === undefined) console.error(`The pages are not looked at: there is no browser (${names.join(', ')}).`);
  return found;
}

export interface Look {
  /** Of the window, pixels. */
  width: number;
  scheme: 'light' | 'dark';
}

export interface Browser {
  /** Opens a file, and evaluates an expression in it. Throws what the expression throws. */
  evaluate<Value>(file: string, look: Look, expression: string): Promise<Value>;
  close(): void;
}

interface Reply {
  id?: number;
  method?: string;
  sessionId?: string;
  result?: object;
  error?: { message: string };
}

export async function openChromium(program: string): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), 'datahub-retention-browser-'));
  const options = ['--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0'];
  const child = spawn(program, [...options, `--user-data-dir=${folder}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const socket = new WebSocket(await addressOf(child));
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));

  let sent = 0;
  const waiting = new Map<number, (reply: Reply) => void>();
  const events: Array<(reply: Reply) => void> = [];
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    if (reply.id === undefined) for (const tell of events) tell(reply);
    else waiting.get(reply.id)?.(reply);
  });
  const ask = (method: string, params: object, sessionId?: string) =>
    new Promise<object>((resolve, reject) => {
      const id = ++sent;
      waiting.set(id, ({ result = {}, error }) => (error ? reject(new Error(error.message)) : resolve(result)));
      socket.send(JSON.stringify({ id, method, params, sessionId }));
    });
  const event = (method: string, session: string) =>
    new Promise<void>((resolve) => {
      events.push((reply) => {
        if (reply.method === method && reply.sessionId === session) resolve();
      });
    });

  return {
    async evaluate<Value>(file: string, { width, scheme }: Look, expression: string): Promise<Value> {
      const { targetId } = (await ask('Target.createTarget', { url: 'about:blank' })) as { targetId: string };
      const { sessionId } = (await ask('Target.attachToTarget', { targetId, flatten: true })) as { sessionId: string };
      await ask('Page.enable', {}, sessionId);
      const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 };
      await ask('Emulation.setDeviceMetricsOverride', metrics, sessionId);
      const features = [{ name: 'prefers-color-scheme', value: scheme }];
      await ask('Emulation.setEmulatedMedia', { features }, sessionId);
      const loaded = event('Page.loadEventFired', sessionId);
      await ask('Page.navigate', { url: `file://${file}` }, sessionId);
      await loaded;
      const { result, exceptionDetails } = (await ask(
        'Runtime.evaluate',
        { expression, returnByValue: true },
        sessionId,
      )) as { result: { value: Value }; exceptionDetails?: { exception?: { description?: string } } };
      await ask('Target.closeTarget', { targetId });
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? 'the expression failed');
      return result.value;
    },
    close() {
      socket.close();
      child.kill('SIGKILL');
      child.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    },
  };
}

/** Chromium prints where it listens. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stderr!.on('data', (chunk) => {
      text += chunk;
      const address = /DevTools listening on (ws:\S+)/.exec(text)?.[1];
      if (address) resolve(address);
    });
    child.once('exit', () => reject(new Error(`Chromium ended: ${text.slice(0, 500)}`)));
  });
}
