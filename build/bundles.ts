import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import packageManifest from '../package.json' with { type: 'json' };
import { jobVersion } from '../version.ts';

/**
 * The two programs of the package as files that need no other file except the functions, which
 * `infra/functions/bundles.ts` bundles.
 */

export const root = fileURLToPath(new URL('..', import.meta.url));

/** An image is built without git (its context has no .git), and may be told what it is made from. */
function bundledVersion(): string {
  const given = process.env['JOB_VERSION'];
  if (!given) return jobVersion();
  if (given.split('+')[0] === packageManifest.version) return given;
  throw new Error(`JOB_VERSION is ${given}, but package.json says ${packageManifest.version}.`);
}

const common: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  // The oldest Node that package.json allows.
  target: 'node20.6',
  mainFields: ['module', 'main'],
  legalComments: 'none',
  logLevel: 'error',
  metafile: true,
  define: { BUNDLED_VERSION: JSON.stringify(bundledVersion()) },
};

/** `datahub-retention`: cli/main.ts with everything that it needs, from the libraries to the sample policies. */
export async function bundleCommandLine(outfile: string): Promise<Metafile> {
  const { metafile } = await build({
    ...common,
    entryPoints: ['cli/main.ts'],
    outfile,
    format: 'esm',
    minify: true,
    banner: {
      // Some libraries are CommonJS and call require() for Node's own modules.
      js: "#!/usr/bin/env node\nimport{createRequire as createRequireOfBundle}from'node:module';const require=createRequireOfBundle(import.meta.url);",
    },
  });
  return metafile!;
}

/**
 * The construct, as CommonJS so that apps of both kinds can load it. Not minified: Node prints the line that throws,
 * and the message after it should stay visible.
 */
export async function bundleConstruct(outfile: string): Promise<Metafile> {
  const { metafile } = await build({
    ...common,
    entryPoints: ['infra/published/package.ts'],
    outfile,
    format: 'cjs',
    external: ['aws-cdk-lib', 'constructs'],
    plugins: [packagedCode],
    define: { ...common.define, 'import.meta.url': 'urlOfBundle' },
    banner: { js: "const urlOfBundle = require('node:url').pathToFileURL(__filename).href;" },
  });
  return metafile!;
}

/** An app that uses the construct has no esbuild, so the functions are bundled already. */
const packagedCode: Plugin = {
  name: 'packaged-code',
  setup({ onResolve }) {
    onResolve({ filter: /\/function-code\.ts$/ }, () => ({ path: `${root}infra/functions/packaged-code.ts` }));
  },
};
