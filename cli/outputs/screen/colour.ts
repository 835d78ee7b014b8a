import type { Result } from '../../../lambda/facts/outcomes.ts';
import type { Screen } from './screen.ts';

/** Colour shows how bad something is, and nothing else; the words always say it too. */

export type Severity = Result | 'note';

const codes: Record<Severity, number> = { ok: 32, note: 33, attention: 33, failed: 31 };

export type Paint = (severity: Severity, text: string) => string;

/** The colours of a screen; a text is one word, so that no colour has to survive a line break. */
export const paintFor = ({ colour }: Screen): Paint =>
  colour ? (severity, text) => `\u001b[${codes[severity]}m${text}\u001b[39m` : (_, text) => text;
