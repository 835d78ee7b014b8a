export const schedule = 'schedule';

const maxCharacters = 200;

/**
 * Who asked for a run, as they say: shown in report, message, ledger and status. Nothing is decided by it, so it is
 * never a reason to refuse: what is no text is left out, control characters and line ends become blanks, and it is cut.
 */
export function cleanRequester(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = [...value.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()].slice(0, maxCharacters).join('');
  return text === '' ? undefined : text;
}
