import type { HandInput } from '../../model/run-input.ts';

/** Text as one word of a shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** The words of the command line: verb, indices, options. */
export function verbLine(
  { mode = 'preview', indices = [], approveRows, release = [], acceptMissing }: HandInput,
  policies = '',
): string[] {
  const verb = release.length > 0 ? 'release' : mode;
  return [
    verb,
    ...[...release, ...indices].map(shellWord),
    ...(verb === 'release' || policies === '' ? [] : ['--policies', policies]),
    ...(approveRows === undefined ? [] : ['--approve-rows', `${approveRows}`]),
    ...(acceptMissing === undefined ? [] : ['--accept-missing', `${acceptMissing}`]),
  ];
}
