import { withoutMarkup } from './text.ts';

/**
 * Withholds texts that repeat a secret. A server or a proxy may echo a header in pieces, in lower case, encoded, or
 * divided by markup. Such a text is replaced as a whole: with only pieces masked, the secret could be put together
 * again from the rest.
 */

/** A text that shares this many consecutive letters and digits with a secret repeats it; ordinary texts share fewer. */
const pieceLength = 12;

/** A header's value may be shorter, and is withheld where all of it is repeated. What is shorter still is a word. */
const minLength = 6;

const withheld = 'This text repeated a secret and is withheld.';

/** A text is decoded in at most this many ways; a text that needs more is withheld unread. */
const maxDecodings = 100;

/** What a shell, Kubernetes, Helm or a person should have replaced: `${NAME}`, `$(NAME)`, `{{ .Values.name }}`, `<key>`. */
export const placeholder = /\$\{\w+\}|\$\(\w+\)|\{\{.*\}\}|(?:^| )(?:\$[A-Z][A-Z_]+|<[\w -]+>)$/;

/**
 * What is wrong with a text that should be an access token and nothing else, as a clause that shows nothing of it: the
 * text may be another secret.
 * @returns undefined for a token
 */
export function tokenProblem(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (/^(["'`]).*\1$/s.test(text)) return 'holds a token in quotes';
  if (!/^[\x21-\x7e]+$/.test(text)) {
    return 'does not hold a token: it has spaces, line breaks or other characters that a token cannot have';
  }
  if (placeholder.test(text)) return 'holds a placeholder that nothing has replaced';
  if (/^[{[<]|^\w+=[^=]|^\w+:\/\//.test(text))
    return 'holds more than a token (JSON, a page, an address, or a name with =)';
  // A shorter token could be an ordinary word of a text.
  if (lettersAndDigits(text).length >= pieceLength) return undefined;
  return `holds a token that has fewer than ${pieceLength} letters and digits, so that it could not be kept out of messages`;
}

export function repeatsSecret(secrets: Iterable<string>): (text: string) => boolean {
  const encodings = [...secrets].flatMap(encodingsOf).map(lettersAndDigits);
  const pieces = new Set(encodings.flatMap((encoding) => piecesOf(encoding, Math.min(pieceLength, encoding.length))));
  const lengths = [...new Set([...pieces].map((piece) => piece.length))].filter((length) => length >= minLength);
  if (lengths.length === 0) return () => false;
  return (text) => {
    const decodings = decodingsOf(text);
    if (decodings.length > maxDecodings) return true;
    const texts = decodings.map(lettersAndDigits);
    return lengths.some((length) => texts.some((one) => piecesOf(one, length).some((piece) => pieces.has(piece))));
  };
}

/** A JSON web token, which is what DataHub's access tokens are. */
const jsonWebToken = /eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g;
const tokens = /\b(Bearer\s+)[\w.~+/=-]{8,}/gi;
const removed = '[removed]';

/** Whether a person has given an access token in place of something else. */
export const looksLikeToken = (text: string): boolean => /^(?:Bearer |eyJ[\w-]+\.)/.test(text);

/** The first frame of a Java or JavaScript stack trace, with real line breaks or with escaped ones from nested JSON. */
const stackFrame =
  /(?:[\r\n]|\\r|\\n)(?:\s|\\t)*at\s|\s+at\s+[\w$.<>/]+\((?:[\w$]+\.(?:java|kt|scala):\d+|Native Method|Unknown Source)\)/;

/**
 * Makes texts that others wrote safe to show: one that repeats a secret is replaced by a sentence, other people's
 * tokens and stack traces are removed.
 * @param secrets such as the token in use
 */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const repeatsOne = repeatsSecret(secrets);
  return (text) => {
    if (repeatsOne(text)) return withheld;
    const cleaned = text.replace(jsonWebToken, removed).replace(tokens, `$1${removed}`);
    const frame = stackFrame.exec(cleaned);
    return frame ? cleaned.slice(0, frame.index) : cleaned;
  };
}

const lettersAndDigits = (text: string): string => text.replace(/[^A-Za-z0-9]/g, '').toLowerCase();

const piecesOf = (letters: string, length: number): string[] =>
  Array.from({ length: Math.max(0, letters.length - length + 1) }, (_, at) => letters.slice(at, at + length));

/** The secret; its Base64 at each of the three offsets that it may have in a longer text; and as lists of bytes. */
function encodingsOf(secret: string): string[] {
  const bytes = [...Buffer.from(secret)];
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0'));
  // The characters at either end depend on the text around the secret.
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.from(`${' '.repeat(shift)}${secret}`)
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4),
  );
  return [secret, ...base64, hex.join(''), hex.map((byte) => `0x${byte}`).join(''), bytes.join('')];
}

/** The text, and what is left of it once markup and escapes are undone, in any order: one may hide another. */
function decodingsOf(text: string): string[] {
  const found = new Set([text]);
  for (const one of found) {
    for (const undo of [withoutMarkup, withoutEscapes, withoutQuotedPrintable]) found.add(undo(one));
    if (found.size > maxDecodings) break;
  }
  return [...found];
}

const escapes =
  /\/\*[\s\S]*?\*\/|%[0-9a-f]{2}|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\u\{[0-9a-f]+\}|&#x[0-9a-f]+;?|&#\d+;?|&[a-z][a-z\d]*;|\\[bfnrt]?/gi;

const withoutEscapes = (text: string): string => text.replace(escapes, unescaped);

const withoutQuotedPrintable = (text: string): string => text.replace(/=(?:[0-9a-f]{2}|\r?\n)/gi, unescaped);

/** HTML's named escapes, but only those that may begin another escape or a tag. */
const named: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&percnt;': '%', '&bsol;': '\\' };

/** Only ASCII matters: a token has nothing else. */
function unescaped(found: string): string {
  const [, hex, decimal] = /^(?:[%=]|\\x|\\u\{?|&#x)([0-9a-f]+)|^&#(\d+)/i.exec(found) ?? [];
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code <= 0x7f ? String.fromCharCode(code) : (named[found.toLowerCase()] ?? ' ');
}
