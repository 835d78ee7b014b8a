import { redactor, repeatsSecret } from '../secrets.ts';
import { capped, withoutMarkup } from '../text.ts';

/** Makes a server's text safe to show: one line of at most 240 bytes without stack traces, markup and secrets. */
export interface Sanitize {
  (text: string): string;
  /** Whether a name or an id repeats a secret. Then it is not used: names are shown everywhere as they are. */
  repeatsSecret(name: string): boolean;
}

/** A parser's result for a text that is not what the operation promises. */
export class Unreadable {
  /** The beginning of the text, safe to show. */
  readonly excerpt: string;

  constructor(excerpt: string) {
    this.excerpt = excerpt;
  }
}

/** A stack trace has tens of kilobytes; the useful part is at its beginning, and this keeps the patterns cheap. */
const maxRead = 8192;

/**
 * Makes what a server says fit to quote. GMS puts whole answers of its search engine into its messages, HTML pages and
 * stack traces among them (datahub issue #9113).
 * @param secrets the tokens in use: a text that repeats one, even in part, is withheld
 */
export function createSanitizer(secrets: readonly string[] = []): Sanitize {
  const redacted = redactor(secrets);
  const sanitized = (text: string) => {
    // A second pass, without the characters that may have divided a token or a line of a stack trace.
    const visible = redacted(text.slice(0, maxRead)).replace(/\p{Cf}/gu, '');
    const plain = redacted(withoutMarkup(visible));
    // A class's name is useful, its packages are not.
    const short = redacted(plain.replace(/\b(?:[a-z_][\w$]*\.)+(?=[A-Z])/g, ''));
    return capped(short.replace(/[\p{C}\s]+/gu, ' ').trim());
  };
  return Object.assign(sanitized, { repeatsSecret: repeatsSecret(secrets) });
}

export const sanitize: Sanitize = createSanitizer();
