import { alphabet } from './alphabet.ts';

/** A row of the table in docs/testing.md: one part of the world, and every letter of it. */
export const alphabetRow = (part: string): string =>
  `| ${part} | ${Object.keys(alphabet[part] ?? {})
    .sort()
    .join(' · ')} |`;
