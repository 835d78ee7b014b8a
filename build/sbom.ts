import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { bundledBom } from './bom.ts';
import { root } from './bundles.ts';
import { packagesNoticed } from './notices.ts';

/** `npm run sbom`, after `npm run build`: the CycloneDX bill of materials of the package. */
const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
const all = execFileSync('npm', ['sbom', ...options], { cwd: root, encoding: 'utf8', maxBuffer: 64e6 });
console.log(JSON.stringify(bundledBom(JSON.parse(all), packagesNoticed(join(root, 'THIRD-PARTY-NOTICES'))), null, 2));
