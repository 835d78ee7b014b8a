import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { buildSync, type Metafile } from 'esbuild';
import { environments, type FunctionName } from '../../lambda/wiring/environment.ts';

export type FunctionCode = Record<FunctionName, Code>;

export const functionNames = Object.keys(environments) as FunctionName[];

const root = fileURLToPath(new URL('../..', import.meta.url));

let bundles: string | undefined;

/**
 * The code of the functions, bundled once per process. The published package contains the bundles: its build puts
 * `packaged-code.ts` in this module's place, so that an app that uses the construct needs no esbuild.
 */
export function functionCode(): FunctionCode {
  bundles ??= bundleAside();
  return codeIn(bundles);
}

/** @param folder holds `<name>/index.mjs` for each function */
export const codeIn = (folder: string): FunctionCode => {
  const code = (name: FunctionName) => Code.fromAsset(join(folder, name));
  return { plan: code('plan'), truncate: code('truncate'), poll: code('poll'), report: code('report') };
};

/** CDK copies an asset when the construct is created; this copy is not needed after the process ends. */
function bundleAside(): string {
  const folder = mkdtempSync(join(tmpdir(), 'datahub-retention-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  bundleInto(folder);
  return folder;
}

const handlers = Object.fromEntries(functionNames.map((name) => [name, `lambda/${name}.ts`]));

/**
 * Bundles the four handlers, each with its own SDK: it starts faster than the runtime's copy, and is the version that
 * was tested. One call of esbuild for all, in place of NodejsFunction's four processes. The same sources give the same
 * bytes, so that a deployment without source changes is a no-op. Writes `<folder>/<name>/index.mjs` for each.
 * @param sources of the bundles by name, below the project's folder
 * @returns esbuild's account of what went into them
 */
export function bundleInto(folder: string, sources: Record<string, string> = handlers): Metafile {
  const { metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: Object.entries(sources).map(([name, source]) => ({ in: source, out: `${name}/index` })),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    // undici is CommonJS: its require() of Node's own modules needs a require in the ES module. Minification gives
    // nothing else this long name.
    banner: {
      js: "import{createRequire as createRequireOfBundle}from'node:module';const require=createRequireOfBundle(import.meta.url);",
    },
    logLevel: 'error',
    metafile: true,
  });
  return metafile;
}
