/** What others' texts may hold, and how long they may be; `report/sentences/text.ts` makes them fit to show. */

/** The longest text from elsewhere that a run keeps, in bytes of the run state. */
export const maxTextBytes = 240;

/** The same for one of our own sentences, which end with what to do. */
export const maxSentenceBytes = 600;

/** Characters that control a terminal or a mail reader, reverse text, or are not valid in XML (SQS refuses these). */
export const unprintable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what we look for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff]|\udb40[\udc00-\udc7f]/g;

/** Cuts a text to this many bytes of JSON, without splitting a character, and shows that it did. */
export function capped(text: string, bytes: number = maxTextBytes): string {
  if (text.length <= bytes && bytesInJson(text) <= bytes) return text;
  let kept = '';
  let left = bytes - bytesInJson('…');
  for (const character of text.slice(0, bytes)) {
    left -= bytesInJson(character);
    if (left < 0) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

const bytesInJson = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - '""'.length;

/** The JSON escape of one UTF-16 unit. */
export const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Unprintable characters as their JSON escapes, apart from line breaks and tabs. */
export const printable = (text: string): string =>
  text.replace(unprintable, (found) => found.split('').map(escaped).join(''));

/** A name, an id, or another text of one line: it shows what is in it. */
export const visible = (text: string): string => printable(text).replace(/[\t\r\n]/g, escaped);

/** Without tags, comments, scripts and style sheets. */
export const withoutMarkup = (text: string): string =>
  text
    .replace(/<(style|script)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replace(/<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[|\]\]>/g, ' ')
    .replace(/<[!/?]?[a-z][^<>]*(?:>|$)/gi, ' ');
