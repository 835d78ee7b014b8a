import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { root } from './bundles.ts';

/** Third-party code in the bundles, according to esbuild, and its licences. */

interface BundledPackage {
  name: string;
  version: string;
  license: string;
  /** The texts of its licence and notice files, in the order of their names. */
  texts: string[];
}

/** The packages of which at least one byte is in a bundle, by name and version. */
export function bundledPackages(metafiles: readonly Metafile[]): BundledPackage[] {
  const folders = new Set<string>();
  for (const { outputs } of metafiles) {
    for (const { inputs } of Object.values(outputs)) {
      for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
        const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
        if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
      }
    }
  }
  const packages = [...folders].map((folder) => packageIn(join(root, folder)));
  const byKey = new Map(packages.map((each) => [`${each.name}@${each.version}`, each]));
  return [...byKey.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

function packageIn(folder: string): BundledPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)(\.|$)/i.test(file));
  if (typeof license !== 'string')
    throw new Error(`${name}@${version} does not state its licence: check it before bundling it.`);
  return { name, version, license, texts: files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim()) };
}

/** The text of THIRD-PARTY-NOTICES. A licence text shared by many packages appears once. */
export function noticesOf(packages: readonly BundledPackage[]): string {
  const byTexts = new Map<string, BundledPackage[]>();
  for (const each of packages) {
    const key = each.texts.join('\n\n') || `Licence: ${each.license} (the package has no licence file).`;
    byTexts.set(key, [...(byTexts.get(key) ?? []), each]);
  }
  const rule = '-'.repeat(80);
  const sections = [...byTexts].map(([text, same]) => {
    const names = same.map(({ name, version, license }) => `${name} ${version} (${license})`).join('\n');
    return `${rule}\n${names}\n${rule}\n\n${text}\n`;
  });
  return `The files in dist/ contain code of these packages, under the terms that follow their names.\n\n${sections.join('\n')}`;
}

/** Reads the names and versions that a notices file lists. */
export function packagesNoticed(path: string): Set<string> {
  if (!existsSync(path)) throw new Error(`${path} does not exist: run npm run build first.`);
  const lines = readFileSync(path, 'utf8').matchAll(/^(\S+) (\d+\.\d+\.\S+) \(.+\)$/gm);
  return new Set([...lines].map(([, name, version]) => `${name}@${version}`));
}
