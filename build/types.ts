import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './bundles.ts';

/** All that is public; these name only each other, aws-cdk-lib and constructs, as a test of the tarball checks. */
const declared = [
  'published/package',
  'published/peer',
  'datahub-retention',
  'props/construct-props',
  'props/stage-props',
];

/** Writes the compiler's declarations of the construct. */
export function writeConstructTypes(to: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'datahub-retention-types-'));
  try {
    const project = join(folder, 'tsconfig.json');
    // Only for the construct and what it imports: tests may export things that no declaration can name.
    writeFileSync(
      project,
      JSON.stringify({
        extends: join(root, 'tsconfig.json'),
        compilerOptions: {
          noEmit: false,
          declaration: true,
          emitDeclarationOnly: true,
          stripInternal: true,
          rootDir: root,
          outDir: folder,
          typeRoots: [join(root, 'node_modules/@types')],
        },
        include: [],
        files: [join(root, 'infra/published/package.ts')],
      }),
    );
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', project], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    for (const file of declared) cpSync(join(folder, 'infra', `${file}.d.ts`), join(to, `${file}.d.ts`));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
