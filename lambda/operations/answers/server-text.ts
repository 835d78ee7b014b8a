import type { Mask } from '../../facts/secrets.ts';
import { capped } from '../../facts/text.ts';

/** Makes a server's text safe to show: see `quote`. Clients add the redaction of their own token. */
export type Quote = (text: string) => string;

/** A parser's result for a text that is not what the operation promises. */
export interface Unreadable {
  kind: 'unreadable';
  /** The beginning of the text, safe to show. */
  excerpt: string;
}

/**
 * One line of at most 240 bytes without stack trace, markup, Java package names, addresses or credentials.
 * GMS puts whole search engine answers into its messages: host names, URLs and HTML pages (datahub issue #9113).
 */
export function quote(text: string): string {
  const head = text.slice(0, maxRead);
  const line = withoutMarkup(withoutStack(head)).replace(/[\p{C}\s]+/gu, ' ');
  return capped(withoutAddresses(withoutClassNames(line.trim())));
}

/**
 * A stack trace has tens of kilobytes; the useful part is at its beginning, and this keeps the patterns below cheap.
 */
const maxRead = 8192;

/**
 * A quote function that knows the tokens in use; `mask` replaces them before anything is cut, so that no fragment remains.
 */
export const quoteWithout =
  (mask: Mask): Quote =>
  (text) =>
    quote(mask(text.slice(0, maxRead)));

/** Without the frames and everything after them, whether the line breaks are real or still escaped. */
const withoutStack = (text: string): string => text.replace(/(?:\s|\\[nrt]){1,8}at [^\s(]+\([\s\S]*$/, '');

function withoutMarkup(text: string): string {
  return text
    .replace(/<(style|script)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replace(/<!--[\s\S]*?(?:-->|$)/g, ' ')
    .replace(/<[!/?]?[a-z][^<>]*(?:>|$)/gi, ' ');
}

/** `a.b.SomeException: c.d.OtherException: text` becomes `text`; a class name without a text stays, without package. */
function withoutClassNames(text: string): string {
  let rest = text.replace(/\b(?:[a-z_][\w$]*\.)+(?=[A-Z])/g, '');
  for (;;) {
    const prefix = /^([A-Z][\w$]*(?:Exception|Error))(?: \[HTTP Status:\d+\])?\s*:\s*(?=\S)/.exec(rest);
    // The text after this one is the bare name of an internal host.
    if (!prefix || prefix[1] === 'UnknownHostException') break;
    rest = rest.slice(prefix[0].length);
  }
  return rest.replace(/\b(UnknownHostException): *[^\s:,;\])]+/g, '$1');
}

function withoutAddresses(text: string): string {
  return (
    text
      .replace(/\bBearer +[^\s"',;]+/gi, 'Bearer […]')
      .replace(/\b(Basic|ApiKey) +[\w+/=-]{16,}/gi, '$1 […]')
      .replace(/\beyJ[\w-]{8,}\.[\w.-]*/g, '[…]')
      .replace(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>\])}]*/gi, '[…]')
      // As Java writes an address, `host/10.0.0.4:9200` or `host/<unresolved>:9200`, and the search engine a node,
      // `{name}{id}…` or `[name][10.0.0.4:9300]`.
      .replace(/(?<![\w.-])[\w.-]{1,253}\/(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?| ?:\d{2,5})/g, '[…]')
      .replace(/\{[^{}\s]*\}(?:\{[^{}\s]*\}){2,}/g, '[…]')
      .replace(/\[[^[\]\s]{1,253}\](?=\[\d{1,3}(?:\.\d{1,3}){3}:\d)/g, '[…]')
      .replace(
        /(?<![\w.-])[\w.-]{1,253}(?=: (?:Name or service not known|nodename nor servname|Temporary failure in name resolution))/gi,
        '[…]',
      )
      .replace(/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.]*\d)/g, '[…]')
      .replace(/\[[0-9a-f]*:[0-9a-f:.%]*:[0-9a-f.]*\](?::\d+)?/gi, '[…]')
      .replace(/(?<![\w.:-])(?:[0-9a-f]{1,4}:){3,7}:?[0-9a-f]{1,4}(?![\w:])/gi, '[…]')
      .replace(/(?<![\w.-])[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]{2,})+(?::\d+)?(?![\w-])/gi, (name) =>
        /[a-z]/i.test(name) ? '[…]' : name,
      )
      // One case only: a task id (`<node id>:<number>`) looks like host and port otherwise.
      .replace(
        /(?<![\w.:-])(?:[a-z][a-z0-9_-]*[a-z0-9]|[A-Z][A-Z0-9]*[-_][A-Z0-9_-]*[A-Z0-9]):\d{2,5}(?![\w:])/g,
        '[…]',
      )
      .replace(/\[\[…\]\]/g, '[…]')
  );
}
