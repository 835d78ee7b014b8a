import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { refuseSwallowedOptions } from '../../../cli/command-line/npm.ts';

describe('an option that npm keeps for itself', () => {
  it.each<[NodeJS.ProcessEnv, string[] | undefined, string | undefined]>([
    [{}, undefined, undefined],
    [{}, ['start'], undefined],
    [{ npm_config_gms_url: 'true' }, undefined, 'gms-url'],
    [{ npm_config_enforce: 'true' }, ['start', '--enforce'], 'enforce'],
    [{ npm_config_notify_url_file: 'x' }, undefined, 'notify-url-file'],
    // npm's own options: those that it finds invalid are only in its log, and the others may come from a .npmrc.
    [{}, ['start', '--only=dataset.operation'], 'only'],
    [{}, ['start', '--only', 'dataset.operation'], 'only'],
    [{ npm_config_json: 'true' }, ['start', '--json', 'r.json'], 'json'],
    [{ npm_config_json: 'true' }, undefined, 'json'],
    [{ npm_config_json: 'true', npm_config_force: 'true' }, ['start'], undefined],
  ])('by %o and %o is %s', (env, argv, name) => {
    const look = () => refuseSwallowedOptions(env, argv);
    if (name === undefined) expect(look).not.toThrow();
    else
      expect(look).toThrow(
        `npm kept --${name} for itself: put -- before verb and options, as in: npm start -- survey --gms-url`,
      );
  });

  it('is noticed when npm starts the program', async () => {
    const cwd = fileURLToPath(new URL('../../../', import.meta.url));
    const { status, stderr } = await new Promise<{ status: unknown; stderr: string }>((resolve) => {
      execFile('npm', ['start', '--only=dataset.operation'], { cwd }, (error, _stdout, stderr) =>
        resolve({ status: error?.code ?? 0, stderr }),
      );
    });
    expect(status).toBe(2);
    expect(stderr).toContain('npm kept --only for itself: put -- before verb and options');
  });
});
