import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

/**
 * The installed Chromium, controlled over its own debugging pipe: opening a page, setting size and colours, querying it
 * and taking a screenshot take four commands, and no library that ships its own browser.
 */

/** The name of the program, or undefined if there is none. The variable `CHROMIUM` can name another one. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const names = env['CHROMIUM'] ? [env['CHROMIUM']] : ['chromium', 'chromium-browser', 'google-chrome'];
  return names.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
}

export interface Viewport {
  width: number;
  height: number;
  scheme: 'light' | 'dark';
  /** As on paper. */
  media?: 'print';
  /** Pixels of the picture for one of the page; 1 if left out. */
  scale?: number;
}

export interface OpenPage {
  /** Console messages, errors, and violations of the page's content security policy. */
  messages: string[];
  /** Addresses that it requested, except its own file. */
  requests: string[];
  /** The value of an expression, which has to be JSON. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** PNG of the visible page, or of a part of it. */
  screenshot(clip?: { x: number; y: number; width: number; height: number }): Promise<Buffer>;
  close(): Promise<void>;
}

export interface Chromium {
  open(file: string, viewport: Viewport): Promise<OpenPage>;
  close(): Promise<void>;
}

interface Answer {
  id?: number;
  sessionId?: string;
  method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the protocol has some hundred shapes
  params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  result?: any;
  error?: { message: string };
}

export async function startChromium(program: string): Promise<Chromium> {
  const profile = mkdtempSync(join(tmpdir(), 'retention-chromium-'));
  const child = spawn(
    program,
    [
      '--headless=new',
      '--remote-debugging-pipe',
      '--disable-gpu',
      '--hide-scrollbars',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-dev-shm-usage',
      // Its sandbox does not work for root, as in a container; only files that this program has written are opened.
      '--no-sandbox',
      `--user-data-dir=${profile}`,
    ],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const wire = speak(child);
  return {
    async open(file, { width, height, scheme, media = '', scale = 1 }) {
      const { targetId } = await wire.send('Target.createTarget', { url: 'about:blank' });
      const { sessionId } = await wire.send('Target.attachToTarget', { targetId, flatten: true });
      const send = (method: string, params: object = {}) => wire.send(method, params, sessionId);
      const address = pathToFileURL(file).href;
      const messages: string[] = [];
      const requests: string[] = [];
      const loaded = wire.listen(sessionId, ({ method, params }) => {
        if (method === 'Log.entryAdded') messages.push(params.entry.text);
        if (method === 'Runtime.consoleAPICalled') messages.push(JSON.stringify(params.args));
        if (method === 'Runtime.exceptionThrown') messages.push(params.exceptionDetails.text);
        if (method === 'Network.requestWillBeSent' && params.request.url !== address) requests.push(params.request.url);
        return method === 'Page.loadEventFired';
      });
      for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`);
      await send('Emulation.setDeviceMetricsOverride', {
        width,
        height,
        deviceScaleFactor: scale,
        mobile: width < 600,
      });
      const features = [{ name: 'prefers-color-scheme', value: scheme }];
      await send('Emulation.setEmulatedMedia', { media, features });
      await send('Page.navigate', { url: address });
      await loaded;
      return {
        messages,
        requests,
        async evaluate<Value>(expression: string) {
          const { result } = await send('Runtime.evaluate', {
            expression: `JSON.stringify(${expression})`,
            returnByValue: true,
          });
          return JSON.parse(result.value) as Value;
        },
        async screenshot(clip) {
          const part = clip && { clip: { ...clip, scale: 1 }, captureBeyondViewport: true };
          const { data } = await send('Page.captureScreenshot', part);
          return Buffer.from(data, 'base64');
        },
        close: async () => {
          await wire.send('Target.closeTarget', { targetId });
        },
      };
    },
    async close() {
      await wire.send('Browser.close').catch(() => {});
      await wire.ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Messages are JSON, each ended by a zero byte. */
function speak(child: ChildProcess) {
  const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable];
  const waiting = new Map<number, (answer: Answer) => void>();
  const listeners = new Map<string, (event: Answer) => void>();
  let count = 0;
  let rest = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\0');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const answer = JSON.parse(part) as Answer;
      if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
      else if (answer.sessionId !== undefined) listeners.get(answer.sessionId)?.(answer);
    }
  });
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  void ended.then(() => {
    for (const answer of waiting.values()) answer({ error: { message: 'Chromium has ended' } });
  });
  input.on('error', () => {});
  return {
    ended,
    // biome-ignore lint/suspicious/noExplicitAny: see Answer
    send: (method: string, params: object = {}, sessionId?: string): Promise<any> =>
      new Promise((resolve, reject) => {
        const id = ++count;
        waiting.set(id, ({ result, error }) => {
          waiting.delete(id);
          if (error) reject(new Error(`${method}: ${error.message}`));
          else resolve(result);
        });
        input.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`);
      }),
    /** Resolves once `hear` returns true; it keeps listening afterwards. */
    listen: (sessionId: string, hear: (event: Answer) => boolean): Promise<void> =>
      new Promise((resolve) => {
        listeners.set(sessionId, (event) => {
          if (hear(event)) resolve();
        });
      }),
  };
}
