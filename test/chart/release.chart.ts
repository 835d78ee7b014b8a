import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import packageManifest from '../../package.json' with { type: 'json' };
import { builtModule } from '../cluster/programs.ts';
import { root } from '../pages/commands.ts';
import { freePort } from '../support/loopback.ts';
import { reasonOf, skipped } from '../support/skips.ts';
import { findHelm, toolsFolder } from './tools.ts';

/** The steps of the release that are about the chart, as the workflow has them, with a registry on this machine. */

const { folder, remove } = toolsFolder();
const helm = findHelm();
const registry = helm === undefined ? undefined : findRegistry();

function findRegistry(): string | undefined {
  try {
    return builtModule('registry', 'github.com/distribution/distribution/v3/cmd/registry@v3.0.0');
  } catch (error) {
    return skipped(`The release of the chart is not tried: no registry can be built here (${reasonOf(error)}).`);
  }
}

describe.skipIf(helm === undefined || registry === undefined)("The chart's release", () => {
  let address: string;
  let stop: () => void;

  beforeAll(async () => {
    address = `127.0.0.1:${await freePort()}`;
    const settings = { version: '0.1', storage: { inmemory: {} }, http: { addr: address } };
    writeFileSync(join(folder, 'registry.yaml'), JSON.stringify(settings));
    const server = spawn(registry!, ['serve', join(folder, 'registry.yaml')], { stdio: 'ignore' });
    stop = () => server.kill();
    process.once('exit', stop);
    for (let attempt = 0; attempt < 100; attempt++) {
      if (await fetch(`http://${address}/v2/`).catch(() => undefined)) return;
      await sleep(100);
    }
    throw new Error('The registry did not start');
  });
  afterAll(() => {
    stop?.();
    remove();
  });

  /** The registry has no TLS, which is all that a command has to be told here. */
  const type = (command: string): string =>
    execFileSync(
      'bash',
      ['-ec', `helm() { ${helm} "$@" $([[ "$*" != *oci://* ]] || echo --plain-http); }\n${command}`],
      {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...process.env,
          REGISTRY: address,
          GITHUB_REF_NAME: `v${packageManifest.version}`,
          GITHUB_ENV: join(folder, 'env'),
        },
      },
    );

  test('pushes what helm then installs from there', () => {
    const { jobs } = parse(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8'));
    const steps: { name?: string; run?: string }[] = [...jobs.files.steps, ...jobs.publish.steps];
    const step = (name: string) => steps.find((each) => each.name === name)!.run!;
    symlinkSync(join(root, 'kubernetes'), join(folder, 'kubernetes'));
    type(step('Package the chart'));
    type(step('Push the chart'));
    expect(readFileSync(join(folder, 'env'), 'utf8')).toMatch(
      /^chart=\S+\/charts\/datahub-retention@sha256:[0-9a-f]{64}\n$/,
    );

    const published = `oci://${address}/charts/datahub-retention --version ${packageManifest.version}`;
    expect(parse(type(`helm show chart ${published}`))).toMatchObject({ version: packageManifest.version });
    const options = `--kube-version 1.34.0 --values ${join(root, 'kubernetes/ci/values.yaml')}`;
    expect(type(`helm template dh ${published} ${options}`)).toBe(type(`helm template dh kubernetes ${options}`));
  });
});
