import type { HandInput } from '../../model/run-input.ts';

export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

export function verbWords(
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
