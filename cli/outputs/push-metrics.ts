import type { Dispatcher } from 'undici';
import { backoffMillis, realSleep } from '../../lambda/gms/http/retry.ts';
import { oneLine } from '../../lambda/report/sentences/text.ts';
import { UsageError } from '../events/mistakes.ts';
import { proxyFor } from '../inputs/server.ts';
import { answerTimeoutMillis, attempts, connectTimeoutMillis, dispatcherFor, through, whyNoAnswer } from './post.ts';

/**
 * The figures of a run as one PUT to a Pushgateway: it replaces those that the last run of this stage has put there
 * (https://github.com/prometheus/pushgateway#put-method), so a run that is killed leaves the last ones, with their time.
 */

/** The path of its API, under which a run of a stage has a place of its own. */
const apiPath = /\/metrics\/job(?:@base64)?\//;

/**
 * @param address of the Pushgateway, or of a place in it: `http://host:9091`, `…/metrics/job/NAME/…`
 * @throws UsageError
 */
export function pushAddress(address: string, stage: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new UsageError(
      '--metrics-url does not hold the address of a Pushgateway, such as http://host:9091, without user name and password.',
    );
  }
  if (!apiPath.test(url.pathname)) {
    const place = /^[\w.-]+$/.test(stage)
      ? `stage/${stage}`
      : `stage@base64/${Buffer.from(stage).toString('base64url') || '='}`;
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/metrics/job/datahub_retention/${place}`;
  }
  return url;
}

interface PushOptions {
  /** The certificates of a private authority. */
  caPem?: string | undefined;
  sleep?: (millis: number) => Promise<void>;
}

/** @returns why it failed, as a sentence; undefined if the Pushgateway has taken the figures. Never throws. */
export async function pushFigures(url: URL, figures: string, options: PushOptions = {}): Promise<string | undefined> {
  const proxy = proxyFor(url.href);
  const failed = (problem: string) => `The figures were not put to ${url.host}${through(proxy)}: ${problem}`;
  let dispatcher: Dispatcher;
  try {
    dispatcher = dispatcherFor(proxy, options.caPem);
  } catch {
    return failed('the proxy variable does not hold an address; correct it.');
  }
  try {
    for (let tries = 1; ; tries++) {
      const { problem, isTransient } = await put(dispatcher, url, figures);
      if (problem === undefined) return undefined;
      if (!isTransient || tries === attempts) return failed(problem);
      await (options.sleep ?? realSleep)(backoffMillis(tries, Math.random()));
    }
  } finally {
    await dispatcher.destroy();
  }
}

async function put(
  dispatcher: Dispatcher,
  { origin, pathname, search }: URL,
  figures: string,
): Promise<{ problem?: string; isTransient: boolean }> {
  try {
    const { statusCode, body } = await dispatcher.request({
      origin,
      path: pathname + search,
      method: 'PUT',
      // A Pushgateway reads the older text format, of which ours is a part: what is new in it are comments there.
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      body: figures,
      signal: AbortSignal.timeout(connectTimeoutMillis + answerTimeoutMillis),
    });
    const said = oneLine(await body.text().catch(() => ''), 120);
    if (statusCode >= 200 && statusCode < 300) return { isTransient: false };
    const quote = said === '' || said.startsWith('<') ? '' : ` ("${said}")`;
    return {
      problem: `it answered ${statusCode}${quote}. Check that the address is that of a Pushgateway.`,
      isTransient: statusCode === 429 || statusCode >= 500,
    };
  } catch (error) {
    return whyNoAnswer(error);
  }
}
