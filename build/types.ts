import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './bundles.ts';

/**
 * The declarations of the construct, in one file that names nothing but aws-cdk-lib and constructs: everything public
 * is in `infra/datahub-retention.ts` and in the two files of props that it imports, so the compiler's own output for these
 * is all it takes.
 */
export function constructTypes(): string {
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
          removeComments: false,
          rootDir: root,
          outDir: folder,
          typeRoots: [join(root, 'node_modules/@types')],
        },
        include: [],
        files: [join(root, 'infra/datahub-retention.ts')],
      }),
    );
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', project], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const declared = (file: string) => readFileSync(join(folder, 'infra', file), 'utf8');
    const files = ['datahub-retention.d.ts', 'props/construct-props.d.ts', 'stage/props.d.ts'].map(declared);
    const text = withEachNameImportedOnce(files.join('\n').replace(/^import type .* from '\.[^']*props\.ts';\n/gm, ''));
    const foreign = [...text.matchAll(/(?:from|import\() ?['"]([^'"]+)/g)].map(([, module]) => module!);
    const others = foreign.filter((module) => !/^(aws-cdk-lib|constructs)(\/|$)/.test(module));
    if (others.length > 0) throw new Error(`The declarations of the construct name ${others.join(', ')}.`);
    return text;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In one file a name may be imported once, and the three files import some of the same ones (`ITopic`). */
function withEachNameImportedOnce(text: string): string {
  const seen = new Set<string>();
  return text.replace(/^(import (?:type )?)\{ (.*) \}( from .*;)\n/gm, (_, before, names: string, after) => {
    const fresh = names.split(', ').filter((name) => !seen.has(name.replace('type ', '')));
    for (const name of fresh) seen.add(name.replace('type ', ''));
    return fresh.length === 0 ? '' : `${before}{ ${fresh.join(', ')} }${after}\n`;
  });
}
