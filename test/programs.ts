import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';

/**
 * The programs that tests start as processes, each bundled once: reading some 250 files through tsx takes
 * a second of each start. `stopped.test.ts`, `npm.test.ts` and `.ci/run` start them as people do.
 */
const programs = {
  start: 'local/main.ts',
  'operations-service': 'test/operations-service/main.ts',
  'slow-service': 'test/local/slow-service.ts',
  'preview-message': 'local/preview-message.ts',
  'acquire-records': 'test/lambda/ledger/acquire-records.ts',
  'test-engine': 'test/engine/main.ts',
} as const;

declare module 'vitest' {
  interface ProvidedContext {
    programs: Record<keyof typeof programs, string>;
  }
}

const root = fileURLToPath(new URL('..', import.meta.url));

export default async function setup({ provide }: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'programs-'));
  await build({
    absWorkingDir: root,
    entryPoints: programs,
    outdir: join(folder, 'code'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // What several of them have in common is read once.
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // Shorter, it is read sooner.
    minifySyntax: true,
    minifyWhitespace: true,
    mainFields: ['module', 'main'],
    logLevel: 'error',
    // Some libraries call require().
    banner: {
      js: `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);`,
    },
  });
  const started = Object.entries(programs).map(([name, entry]) => {
    const file = join(folder, `${name}.mjs`);
    // Messages name the program as it was started.
    writeFileSync(
      file,
      `process.argv[1] = ${JSON.stringify(join(root, entry))};\nawait import('./code/${name}.mjs');\n`,
    );
    return [name, file];
  });
  provide('programs', Object.fromEntries(started));
  return () => rmSync(folder, { recursive: true, force: true });
}
