import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** English about what a run found out is made at the edge: code that decides cannot read sentences that it cannot import. */

const root = fileURLToPath(new URL('../../../', import.meta.url));

const sources = ['lambda', 'infra', 'cli'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
    .map((file) => join(folder, file)),
);

const importsOf = (file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/from '(\.[^']+)'/g)].map(([, path]) =>
    relative(root, join(root, dirname(file), path!)),
  );

test('only Report, notification and the local runner import wording', () => {
  const users = sources.filter(
    (file) => !file.startsWith('lambda/wording/') && importsOf(file).some((path) => path.startsWith('lambda/wording/')),
  );
  const allowed = (file: string) => file === 'lambda/run/report.ts' || /^(lambda\/notification|cli)\//.test(file);
  expect(users.length).toBeGreaterThan(5);
  expect(users.filter((file) => !allowed(file))).toEqual([]);
});

test('only the handler of Report, the alarms and the local runner import notification', () => {
  const users = sources.filter(
    (file) =>
      !file.startsWith('lambda/notification/') &&
      importsOf(file).some((path) => path.startsWith('lambda/notification/')),
  );
  const allowed = (file: string) => file === 'lambda/report.ts' || /^(infra|cli)\//.test(file);
  expect(users.filter((file) => !allowed(file))).toEqual([]);
});
