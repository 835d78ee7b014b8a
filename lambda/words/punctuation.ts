/** Full stops and capitals, which depend on where a text appears. */

/** An ellipsis stays: the text was cut there. */
export const withoutStop = (text: string): string => text.replace(/(?<!\.)\.$/, '');

/** With a capital and a full stop. An index's name keeps its spelling. */
export function asSentence(text: string): string {
  if (text === '') return '';
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?:…]$/.test(begun) ? begun : `${begun}.`;
}
