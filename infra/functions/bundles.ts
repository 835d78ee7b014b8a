import { fileURLToPath } from 'node:url';
import { buildSync, type Metafile } from 'esbuild';
import { environments, type FunctionName } from '../../lambda/aws/environment.ts';

export const functionNames = Object.keys(environments) as FunctionName[];

const root = fileURLToPath(new URL('../..', import.meta.url));

const handlers = Object.fromEntries(functionNames.map((name) => [name, `lambda/handlers/${name}.ts`]));

/**
 * Bundles the four handlers, each with its own SDK, which starts faster than the runtime's copy and is the version that
 * was tested. One esbuild call for all of them replaces NodejsFunction's four processes. The same sources give the same
 * bytes, so that a deployment without source changes is a no-op. Writes `<folder>/<name>/index.mjs` for each.
 * @param sources the source file of each bundle by its name, relative to the project's folder
 * @returns esbuild's record of what went into them
 */
export function bundleInto(folder: string, sources: Record<string, string> = handlers): Metafile {
  const { metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: Object.entries(sources).map(([name, source]) => ({ in: source, out: `${name}/index` })),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Names are not shortened, so that a stack trace says where the error was.
    minifySyntax: true,
    minifyWhitespace: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    logLevel: 'error',
    metafile: true,
  });
  return metafile;
}
