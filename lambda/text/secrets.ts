/**
 * Removes secrets from texts that others wrote: a whole token, its parts, fragments of it, in any case, and encoded. A
 * server or a proxy may echo a header cut short, folded to lower case, or encoded.
 */

/**
 * Any run of this many characters that also occurs in a secret is treated as a piece of it; ordinary words are shorter.
 */
const fragmentLength = 16;
/** Shorter secrets are only recognised as a whole: their fragments would be ordinary words. */
const shortest = 6;

type Mask = (text: string) => string;

/** @param replacement the text put in the secret's place */
export function maskOf(secrets: Iterable<string>, replacement = '[token]'): Mask {
  const known = [...new Set([...secrets].map((secret) => secret.trim()))].filter((secret) => secret.length >= shortest);
  if (known.length === 0) return (text) => text;
  const forms = known.flatMap(formsOf);
  const fragments = new Set(forms.flatMap(fragmentsOf));
  // The first segment of a JSON web token is the same for everyone; masking it as a fragment costs nothing.
  const whole = forms.filter((form) => form.length >= shortest);
  return (text) => masked(text, whole, fragments, replacement);
}

/**
 * The secret itself; as URLs, JSON, HTML and dumps write it; and its Base64 at each of the three offsets at which it may
 * start inside a longer encoded text.
 */
function formsOf(secret: string): string[] {
  const encoded = [0, 1, 2].map((shift) => {
    const base64 = Buffer.from(`${' '.repeat(shift)}${secret}`).toString('base64');
    // The characters at either end depend on the text around the secret.
    return base64.slice(shift === 0 ? 0 : 4, -4);
  });
  const inHtml = (of: (code: number) => string) =>
    secret.replace(/[^A-Za-z0-9]/g, (character) => `&#${of(character.charCodeAt(0))};`);
  return [
    ...[secret, encodeURIComponent(secret), secret.replaceAll('/', '\\/'), Buffer.from(secret).toString('hex')],
    ...[inHtml(String), inHtml((code) => `x${code.toString(16)}`)],
    ...[...encoded, ...encoded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))],
  ];
}

function fragmentsOf(text: string): string[] {
  const lower = text.toLowerCase();
  return Array.from({ length: Math.max(0, lower.length - fragmentLength + 1) }, (_, at) =>
    lower.slice(at, at + fragmentLength),
  );
}

function masked(text: string, whole: readonly string[], fragments: ReadonlySet<string>, replacement: string): string {
  const lower = text.toLowerCase();
  const hidden = new Uint8Array(text.length);
  for (const secret of whole) {
    const wanted = secret.toLowerCase();
    for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + 1)) {
      hidden.fill(1, at, at + wanted.length);
    }
  }
  for (let at = 0; at + fragmentLength <= lower.length; at++) {
    if (fragments.has(lower.slice(at, at + fragmentLength))) hidden.fill(1, at, at + fragmentLength);
  }
  let result = '';
  for (let at = 0; at < text.length; ) {
    if (hidden[at] === 0) {
      result += text[at++];
      continue;
    }
    while (hidden[at] === 1) at++;
    result += replacement;
  }
  return result;
}

/** A JSON web token, which is what DataHub's access tokens are. */
const jsonWebToken = /eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g;
const bearer = /\b(Bearer\s+)[\w.~+/=-]{8,}/gi;
const removed = '[removed]';

/** The first frame of a Java or JavaScript stack trace, with real line breaks or with escaped ones from nested JSON. */
const stackFrame =
  /(?:[\r\n]|\\r|\\n)(?:\s|\\t)*at\s|\s+at\s+[\w$.<>/]+\((?:[\w$]+\.(?:java|kt|scala):\d+|Native Method|Unknown Source)\)/;

/** Removes secrets and stack traces from texts. `secrets`: texts that must not appear, such as the token in use. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const mask = maskOf(secrets, removed);
  return (text) => {
    const cleaned = mask(text).replace(jsonWebToken, removed).replace(bearer, `$1${removed}`);
    const frame = stackFrame.exec(cleaned);
    return frame ? cleaned.slice(0, frame.index) : cleaned;
  };
}
