import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { RetentionPolicy } from '../../../infra/props/stage-props.ts';
import type { ServiceOptions } from '../../simulated-gms/server.ts';
import { runHere, serviceHere } from '../here.ts';

/** Surveys of a service with the given rows. */

export const days = (count: number) => Date.now() - count * 86_400_000;

export const evenly = (from: number, to: number, rows: number) =>
  Array.from({ length: rows }, (_, row) => days(from + ((to - from) * row) / rows));

export const only = (timestamps: number[]) => ({
  indices: [{ entityType: 'dataset', aspect: 'operation', timestamps }],
});

type Service = Awaited<ReturnType<typeof serviceHere>>;

/** In `text`, line breaks inside a paragraph and rows of blanks are one blank; in `page`, there is what `--html` writes. */
export async function survey({ url, files, ledger }: Pick<Service, 'url' | 'files' | 'ledger'>, ...more: string[]) {
  const written = ['--json', files.at('p.json'), '--html', files.at('s.html'), '--force'];
  const server = ['--gms-url', url, '--token-file', files.at('token')];
  const ended = await runHere(['survey', ...server, ...ledger, ...written, ...more]);
  // What there is none of is not spoken of.
  expect(ended.stdout).not.toMatch(/\b0 (?:index|indices|policies)\b/);
  const contentOf = (name: string) => (existsSync(files.at(name)) ? readFileSync(files.at(name), 'utf8') : 'null');
  return {
    ...ended,
    text: ended.stdout.replace(/\s*\n\s+/g, ' ').replace(/ +/g, ' '),
    policies: JSON.parse(contentOf('p.json')) as RetentionPolicy[],
    page: contentOf('s.html'),
  };
}

/** Of a service of its own. */
export async function surveyed(options: ServiceOptions = {}, ...more: string[]) {
  const here = await serviceHere(options);
  return { ...here, ...(await survey(here, ...more)) };
}
