import { expect, test } from 'vitest';
import { type Bom, bundledBom } from '../../build/bom.ts';
import { noticesOf, packagesNoticed } from '../../build/notices.ts';
import packageManifest from '../../package.json' with { type: 'json' };
import { folder } from '../cli/processes.ts';

test('Notices are read back, and asked for where they have not been written yet', () => {
  const { at, write } = folder();
  const notices = noticesOf([{ name: 'zod', version: '4.0.0', license: 'MIT', texts: ['Permission'] }]);
  expect(packagesNoticed(write('NOTICES', notices))).toEqual(new Set(['zod@4.0.0']));
  expect(() => packagesNoticed(at('nothing'))).toThrow('run npm run build first');
});

test('The bill of materials has what is in the bundles, and calls none of it a means of development', () => {
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
