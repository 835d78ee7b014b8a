import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleInto } from '../infra/functions/bundles.ts';
import { bundleCommandLine, bundleConstruct, root } from './bundles.ts';
import { bundledPackages, noticesOf } from './notices.ts';
import { writeConstructTypes } from './types.ts';

/** `npm run build`: everything in the package except its texts. `npm pack` calls it. */

const dist = join(root, 'dist');
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);

const commandLine = join(dist, 'cli.mjs');
const metafiles = [
  bundleInto(join(dist, 'lambda')),
  await bundleCommandLine(commandLine),
  await bundleConstruct(join(dist, 'construct.cjs')),
];
chmodSync(commandLine, 0o755);
writeConstructTypes(join(dist, 'types'));
// Makes tools that resolve types like Node treat the declarations as CommonJS, like the construct itself.
writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
writeFileSync(join(root, 'THIRD-PARTY-NOTICES'), noticesOf(bundledPackages(metafiles)));
