import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { onceForAll } from './support/once.ts';

/**
 * The programs that tests start as processes, each bundled once: reading some 250 files through tsx takes
 * a second of each start. `stopped.test.ts`, `npm.test.ts` and `.ci/run` start them as people do.
 */
const sources = {
  start: 'cli/main.ts',
  'ended-at-write': 'test/cli/run/ended-at-write.ts',
  'ledger-writer': 'test/cli/ledgers/writer.ts',
  'test-engine': 'test/engine/main.ts',
} as const;

const root = fileURLToPath(new URL('..', import.meta.url));

type Programs = Record<keyof typeof sources, string>;

async function bundled(folder: string): Promise<Programs> {
  await build({
    absWorkingDir: root,
    entryPoints: sources,
    outdir: join(folder, 'code'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Shared code is read once.
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // Shorter files are read faster.
    minifySyntax: true,
    minifyWhitespace: true,
    mainFields: ['module', 'main'],
    define: { BUNDLED_VERSION: JSON.stringify('0.0.0+test') },
    logLevel: 'error',
    // Some libraries call require().
    banner: {
      js: `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);`,
    },
  });
  const started = Object.entries(sources).map(([name, entry]) => {
    const file = join(folder, `${name}.mjs`);
    // Messages name the program as it was started.
    writeFileSync(
      file,
      `process.argv[1] = ${JSON.stringify(join(root, entry))};\nawait import('./code/${name}.mjs');\n`,
    );
    return [name, file];
  });
  return Object.fromEntries(started) as Programs;
}

/** The files that start them. */
export const programs = await onceForAll('programs', bundled);
