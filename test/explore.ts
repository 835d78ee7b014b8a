import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `npm run explore [SEED]`: every property test with a random seed, and ten times as many values. Prints the seed first,
 * so that a find can be repeated.
 */

const folder = import.meta.dirname ?? join(process.cwd(), 'test');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .filter((path) => /\/properties\.ts'/.test(readFileSync(join(folder, path), 'utf8')))
  .map((path) => join('test', path));
const seed = process.argv[2] ?? String(Math.floor(Math.random() * 2 ** 31));
process.stdout.write(`seed ${seed}, ${files.length} files\n`);
const { status } = spawnSync('npx', ['vitest', 'run', ...files], {
  cwd: join(folder, '..'),
  stdio: 'inherit',
  env: { ...process.env, EXPLORE_SEED: seed, EXPLORE_FACTOR: '10' },
});
process.stdout.write(status === 0 ? `seed ${seed} found nothing\n` : `repeat with: npm run explore ${seed}\n`);
process.exitCode = status ?? 1;
