import type { DestinationName } from '../../lambda/report/destinations/registry.ts';
import { defaultFormat } from '../command-line/options.ts';
import type { CommandLine } from '../command-line/read.ts';
import { UsageError } from '../events/mistakes.ts';
import { readSecret } from './read-text.ts';

/**
 * The address to which a run's message is posted. Anyone who knows it can post there, so it is protected like a token.
 */
export interface Webhook {
  url: string;
  /** The part of the address that may be shown. */
  host: string;
  format: DestinationName;
  when: 'always' | 'problems';
  /** Where the address is kept, for error messages. */
  source: string;
}

type WebhookOptions = Pick<CommandLine, 'notifyUrlFile' | 'notifyFormat' | 'notify'>;

/**
 * The webhook in the file that the command line, or else the environment, names, if any.
 * @throws UsageError, which never shows the address
 */
export function readWebhook(options: WebhookOptions): Webhook | undefined {
  const { notifyUrlFile: path, notifyFormat: format = defaultFormat, notify: when = 'always' } = options;
  if (path === undefined) return undefined;
  const option = '--notify-url-file';
  const source = `${option} ${path}`;
  const text = readSecret(path, option).trim();
  if (text === '') throw new UsageError(`${source} is empty: put the webhook's address there.`);
  if (/\s/.test(text) || !/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new UsageError(`${source} does not hold an address: put only the address there, beginning with https://.`);
  }
  const { username, password, href, host } = new URL(text);
  if (username !== '' || password !== '') {
    throw new UsageError(
      `${source} holds an address with a user name or password, which is not supported: leave them out.`,
    );
  }
  return { url: href, host, format, when, source };
}

/** Removes the address from a text, and its path where it occurs alone. */
export function withoutAddress({ url }: Webhook): (text: string) => string {
  const { origin, pathname, search, hash } = new URL(url);
  const pathAndQuery = `${pathname}${search}`;
  const parts = [
    `${origin}${pathAndQuery}${hash}`,
    `${origin}${pathAndQuery}`,
    ...(pathAndQuery.length >= 8 ? [pathAndQuery] : []),
  ];
  return (text) => parts.reduce((rest, part) => rest.replaceAll(part, '[webhook]'), text);
}

/** Texts that must not be quoted from an answer: a receiver may echo its own address, or parts of it. */
export function secretsOf({ url }: Webhook): string[] {
  const { pathname, search, searchParams } = new URL(url);
  return [`${pathname}${search}`.slice(1), ...searchParams.values()];
}
