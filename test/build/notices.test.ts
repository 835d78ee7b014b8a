import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Bom, bundledBom } from '../../build/bom.ts';
import { noticed, noticesOf } from '../../build/notices.ts';
import packageManifest from '../../package.json' with { type: 'json' };

const folder = mkdtempSync(join(tmpdir(), 'notices-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('Notices are read back, and asked for where they have not been written yet', () => {
  const path = join(folder, 'NOTICES');
  writeFileSync(path, noticesOf([{ name: 'zod', version: '4.0.0', license: 'MIT', texts: ['Permission'] }]));
  expect(noticed(path)).toEqual(new Set(['zod@4.0.0']));
  expect(() => noticed(join(folder, 'nothing'))).toThrow('run npm run build first');
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
