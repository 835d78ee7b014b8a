import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Bom, bundledBom } from '../../build/bom.ts';
import { bundledPackages, noticed, noticesOf } from '../../build/notices.ts';
import packageManifest from '../../package.json' with { type: 'json' };

const folder = mkdtempSync(join(tmpdir(), 'notices-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The metafile in which esbuild describes a bundle. */
const metafile = (inputs: Record<string, number>) => ({
  inputs: {},
  outputs: {
    'dist/cli.mjs': {
      bytes: 1,
      imports: [],
      exports: [],
      inputs: Object.fromEntries(Object.entries(inputs).map(([path, bytesInOutput]) => [path, { bytesInOutput }])),
    },
  },
});
const bundled = bundledPackages([
  metafile({ 'node_modules/zod/v4/core.js': 10, 'node_modules/undici/index.js': 0, 'cli/main.ts': 10 }),
  metafile({ 'node_modules/zod/v4/util.js': 10, 'node_modules/@aws-sdk/core/index.js': 10 }),
]);

describe('The notices', () => {
  test('name each package once of which a byte is in a bundle, with the text of its licence', () => {
    expect(bundled.map(({ name, license }) => [name, license])).toEqual([
      ['@aws-sdk/core', 'Apache-2.0'],
      ['zod', 'MIT'],
    ]);
    const text = noticesOf(bundled);
    expect(text).toContain('Permission is hereby granted');
    expect(text).not.toContain('undici');
  });

  test('can be read back', () => {
    const path = join(folder, 'NOTICES');
    writeFileSync(path, noticesOf(bundled));
    expect(noticed(path)).toEqual(new Set(bundled.map(({ name, version }) => `${name}@${version}`)));
  });

  test('are asked for where they have not been written yet', () => {
    expect(() => noticed(join(folder, 'nothing'))).toThrow('run npm run build first');
  });
});

describe('The bill of materials', () => {
  test('has what is in the bundles, and calls none of it a means of development', () => {
    const own = `${packageManifest.name}@${packageManifest.version}`;
    const component = (name: string) => ({
      'bom-ref': `${name}@1.0.0`,
      name,
      version: '1.0.0',
      properties: [{ name: 'cdx:npm:package:development' }],
    });
    const all: Bom = {
      metadata: { component: { name: 'some-folder' } },
      components: [component('zod'), component('vitest')],
      dependencies: [
        { ref: own, dependsOn: ['zod@1.0.0', 'vitest@1.0.0'] },
        { ref: 'vitest@1.0.0', dependsOn: ['zod@1.0.0'] },
      ],
    };
    expect(bundledBom(all, new Set(['zod@1.0.0']))).toEqual({
      metadata: { component: { name: packageManifest.name } },
      components: [{ 'bom-ref': 'zod@1.0.0', name: 'zod', version: '1.0.0', properties: [] }],
      dependencies: [{ ref: own, dependsOn: ['zod@1.0.0'] }],
    });
  });
});
