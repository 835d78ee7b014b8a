import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleInto } from '../infra/functions/function-code.ts';
import { bundleCommandLine, bundleConstruct, root } from './bundles.ts';
import { bundledPackages, noticesOf } from './notices.ts';
import { constructTypes } from './types.ts';

/** `npm run build`: everything that the package holds beside its texts. `npm pack` calls it. */

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
writeFileSync(join(dist, 'construct.d.ts'), constructTypes());
// Whoever resolves types as Node does takes the declarations for CommonJS by this, as the construct itself is.
writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
writeFileSync(join(root, 'THIRD-PARTY-NOTICES'), noticesOf(bundledPackages(metafiles)));
