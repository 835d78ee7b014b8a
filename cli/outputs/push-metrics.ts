import { trusting } from '../../lambda/gms/http/connection.ts';
import { backoffMillis, realSleep } from '../../lambda/gms/http/retry.ts';
import { oneLine } from '../../lambda/report/sentences/text.ts';
import { UsageError } from '../events/mistakes.ts';
import { NoAnswerError, sendRequest } from '../inputs/request.ts';
import { proxyFor } from '../inputs/server.ts';
import { attempts, maxBytes, through, usualLimits, whyNoAnswer } from './post.ts';

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
  const { caPem, sleep = realSleep } = options;
  const proxy = proxyFor(url.href);
  const failed = (problem: string) => `The figures were not pushed to ${url.host}${through(proxy)}: ${problem}`;
  if (proxy !== undefined && !URL.canParse(proxy)) {
    return failed('the proxy variable does not hold an address; correct it.');
  }
  const tls = caPem === undefined ? {} : { secureContext: trusting(caPem) };
  for (let tries = 1; ; tries++) {
    const { problem, isTransient } = await put(url, figures, { proxy, tls });
    if (problem === undefined) return undefined;
    if (!isTransient || tries === attempts) return failed(problem);
    await sleep(backoffMillis(tries, Math.random()));
  }
}

async function put(
  { href }: URL,
  figures: string,
  how: Pick<Parameters<typeof sendRequest>[0], 'proxy' | 'tls'>,
): Promise<{ problem?: string; isTransient: boolean }> {
  const { open, usual } = usualLimits;
  try {
    const { status, body } = await sendRequest({
      ...how,
      url: href,
      method: 'PUT',
      // A Pushgateway reads the older text format, of which ours is a part: what is new in it are comments there.
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      body: figures,
      limits: { openMillis: open, totalMillis: usual, maxBytes },
    });
    const said = oneLine(body.toString(), 120);
    if (status >= 200 && status < 300) return { isTransient: false };
    const quote = said === '' || said.startsWith('<') ? '' : ` ("${said}")`;
    return {
      problem: `it answered ${status}${quote}. Check that the address is that of a Pushgateway.`,
      isTransient: status === 429 || status >= 500,
    };
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    return whyNoAnswer(error, usual);
  }
}
