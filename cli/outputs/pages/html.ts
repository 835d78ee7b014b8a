import { unprintable } from '../../../lambda/gms/text.ts';
import { loneSurrogate } from '../../../lambda/report/sentences/text.ts';

/**
 * HTML in which every text is escaped: a template's own text is markup, inserted values are not. Names come from a
 * server, notes from policy authors, so text cannot be marked as safe; only the output of `html` is.
 */

export class Html {
  readonly text: string;

  /** Only `html` and the style sheet make one. */
  constructor(text: string) {
    this.text = text;
  }
}

/** Values allowed in a template; undefined and false write nothing. */
export type Child = Html | string | number | undefined | false | readonly Child[];

/** Values may be used between tags, and in double-quoted attributes. */
export function html(strings: TemplateStringsArray, ...values: Child[]): Html {
  let text = strings[0]!;
  values.forEach((value, at) => {
    text += written(value) + strings[at + 1]!;
  });
  return new Html(text);
}

function written(value: Child): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(written).join('');
  return escaped(String(value));
}

/** Without characters that HTML does not allow, or that reverse or hide text: a name must not look like another. */
export const escaped = (text: string): string =>
  text
    .replace(unprintable, '\ufffd')
    .replace(loneSurrogate, '\ufffd')
    .replace(/\r/g, '\ufffd')
    .replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);

/** An index name in which a browser may break lines: after dots and underscores, and before capitals. */
export const breakable = (name: string): Html[] =>
  name.split(/(?<=[._])|(?<=[\p{Ll}\d])(?=\p{Lu})/u).map((part, at) => (at === 0 ? html`${part}` : html`<wbr>${part}`));
