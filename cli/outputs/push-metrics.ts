import { oneLine } from '../../lambda/report/sentences/text.ts';
import { UsageError } from '../events/mistakes.ts';
import type { RawResponse } from '../inputs/request.ts';
import { type DeliveryOptions, deliver, type Failure, proxyNotice } from './deliver.ts';

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

/** @returns why it failed, as a sentence; undefined if the Pushgateway has taken the figures. Never throws. */
export async function pushFigures(
  { host, href: url }: URL,
  figures: string,
  options: DeliveryOptions = {},
): Promise<string | undefined> {
  // A Pushgateway reads the older text format, of which ours is a part: what is new in it are comments there.
  const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
  const answer = await deliver({ url, method: 'PUT', headers, body: figures }, judge, options);
  return 'problem' in answer
    ? `The figures were not pushed to ${host}${proxyNotice(url)}: ${answer.problem}`
    : undefined;
}

function judge({ status, body }: RawResponse): object | Failure {
  if (status >= 200 && status < 300) return {};
  const said = oneLine(body.toString(), 120);
  const quote = said === '' || said.startsWith('<') ? '' : ` ("${said}")`;
  return {
    problem: `it answered ${status}${quote}. Check that the address is that of a Pushgateway.`,
    isTransient: status === 429 || status >= 500,
  };
}
