import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { emptyProject, install } from './packed.ts';

let folder: string;
let installed: string;
let files: string[];

beforeAll(async () => {
  folder = emptyProject();
  await install(folder, inject('tarball'));
  installed = join(folder, 'node_modules', 'datahub-retention');
  files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(join(installed, file)).isFile())
    .sort();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const text = (file: string) => readFileSync(join(installed, file), 'utf8');

describe('The tarball', () => {
  test('has the programs, their texts, and nothing else', () => {
    const pages = (file: string) => /^docs\/(adr\/)?[\w-]+\.md$/.test(file);
    expect(files.filter((file) => !pages(file))).toEqual([
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'THIRD-PARTY-NOTICES',
      'dist/cli.mjs',
      'dist/construct.cjs',
      'dist/lambda/plan/index.mjs',
      'dist/lambda/poll/index.mjs',
      'dist/lambda/report/index.mjs',
      'dist/lambda/truncate/index.mjs',
      'dist/package.json',
      'dist/types/datahub-retention.d.ts',
      'dist/types/props/construct-props.d.ts',
      'dist/types/props/stage-props.d.ts',
      'dist/types/published/package.d.ts',
      'dist/types/published/peer.d.ts',
      'docs/alert-rules.yaml',
      'docs/grafana-dashboard.json',
      'docs/policies.schema.json',
      'docs/report.schema.json',
      'docs/stage.schema.json',
      'docs/survey-dark.png',
      'docs/survey-light.png',
      'package.json',
    ]);
  });

  test.each(['README.md', 'docs/runbook.md', 'docs/metrics.md'])('has every page that %s links to', (page) => {
    const links = [...text(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link]) => link!);
    const lost = links.filter((link) => !existsSync(join(installed, dirname(page), link)));
    expect(lost).toEqual([]);
  });

  test('brings no other package when it is installed', () => {
    expect(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      'datahub-retention',
    ]);
    const manifest = JSON.parse(text('package.json'));
    expect([manifest.dependencies, manifest.optionalDependencies]).toEqual([undefined, undefined]);
    // Nobody publishes from a machine of their own: npm has no provenance there, and refuses.
    expect([manifest.private, manifest.publishConfig.provenance]).toEqual([undefined, true]);
  });

  test('is small', () => {
    expect(statSync(inject('tarball')).size).toBeLessThan(2_000_000);
    const unpacked = files.reduce((sum, file) => sum + statSync(join(installed, file)).size, 0);
    expect(unpacked).toBeLessThan(6_500_000);
  });

  test('has no source map, and no path of the machine that made it', () => {
    for (const file of files.filter((each) => each.startsWith('dist/'))) {
      expect(text(file)).not.toMatch(/sourceMappingURL=(?!data:)\S/);
      expect(text(file)).not.toContain(process.cwd());
    }
  });

  test('names every package whose code is in it, with the text of its licence', () => {
    const notices = text('THIRD-PARTY-NOTICES');
    for (const name of ['zod', 'undici', 'commander', 'croner', '@aws-sdk/client-ssm'])
      expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\([\\w.-]+\\)$`, 'm'));
    expect(notices).toContain('Permission is hereby granted, free of charge');
    // Not bundled: what the tests and the build use.
    expect(notices).not.toMatch(/^(vitest|esbuild|typescript|fast-check|aws-cdk-lib) /m);
  });

  test('declares its types with nothing but what an app that places the construct has', () => {
    const declarations = files.filter((file) => file.startsWith('dist/types/'));
    const imports = declarations.flatMap((file) =>
      [...text(file).matchAll(/(?:from|import) ['"]([^'"]+)['"]/g)].map(([, name = '']) =>
        name.startsWith('.') ? join(dirname(file), name).replace(/\.ts$/, '.d.ts') : name,
      ),
    );
    expect(imports.filter((name) => /^dist\/types\/props/.test(name)).length).toBeGreaterThan(0);
    const isThere = (name: string) => files.includes(name) || /^(aws-cdk-lib|constructs)(\/|$)/.test(name);
    expect(imports.filter((name) => !isThere(name))).toEqual([]);
  });

  test('points each entry of its manifest to a file that is there', () => {
    const { bin, exports } = JSON.parse(text('package.json'));
    for (const path of [...Object.values<string>(bin), ...Object.values<string>(exports['.'])])
      expect(existsSync(join(installed, path)), path).toBe(true);
  });
});
