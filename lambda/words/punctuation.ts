/** Full stops and capitals, which depend on where a text appears. */

/** An ellipsis stays: the text was cut there. */
export const withoutStop = (text: string): string => text.replace(/(?<!\.)\.$/, '');

export const withStop = (text: string): string => (text === '' || /[.!?:…]$/.test(text) ? text : `${text}.`);

/** With a capital and a full stop. */
export const asSentence = (text: string): string => withStop(text.charAt(0).toUpperCase() + text.slice(1));
