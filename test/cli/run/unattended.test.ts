import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { programs } from '../../programs.ts';
import { operation, runHere, serviceHere } from '../here.ts';
import { startReceiver } from '../outputs/receiver.ts';

/** Nobody sits at a terminal, or nobody reads what is printed. */

const nowhere = { isOutputDiscarded: true };

test('enforce without a terminal wants --yes, whatever is piped into it: one sentence, and no server is asked', async () => {
  const { run, engine } = await serviceHere();
  const args = run('enforce', [operation]).filter((word) => word !== '--yes');
  const piped = ['-c', 'yes | "$0" "$@"', process.execPath, programs.start, ...args];
  const { status, stdout, stderr } = spawnSync('sh', piped, { encoding: 'utf8' });
  expect([status, stdout, engine.asked]).toEqual([2, '', []]);
  expect(stderr).toMatch(/^enforce asks before it deletes rows for good, .* as in .+ enforce --yes\n$/);
});

describe('A run whose output is closed or the null device', () => {
  test.each(['enforce', 'release'])('does not %s without another reader, and asks no server', async (verb) => {
    const { run, engine } = await serviceHere();
    for (const json of [[], ['--json', '-'], ['--json', '/dev/null']]) {
      const args =
        verb === 'release' ? run(verb, [operation], 'dataset.operation', ...json) : run(verb, [operation], ...json);
      const { status, stderr } = await runHere(args, nowhere);
      expect([status, stderr]).toEqual([2, expect.stringMatching(/^Nobody would see the result of \w+: /)]);
    }
    expect(engine.asked).toEqual([]);
  });

  test.each(['> /dev/null', '>&-'])('%s: as a program, too', async (output) => {
    const { run, engine } = await serviceHere();
    const args = [process.execPath, programs.start, ...run('enforce', [operation])];
    const { status, stderr } = spawnSync('sh', ['-c', `"$0" "$@" ${output}`, ...args], { encoding: 'utf8' });
    expect([status, engine.asked]).toEqual([2, []]);
    expect(stderr).toMatch(/^Nobody would see /);
  });

  test('previews', async () => {
    const { run } = await serviceHere();
    expect(await runHere(run('preview', [operation]), nowhere)).toMatchObject({ status: 0 });
  });

  test('has reported what a file or a webhook has accepted', async () => {
    for (const reader of ['file', 'webhook']) {
      const { run, files, states } = await serviceHere();
      const hook = await startReceiver();
      const given =
        reader === 'file' ? ['--json', files.at('r.json')] : ['--notify-url-file', files.write('hook', hook.url)];
      expect((await runHere(run('enforce', [operation], ...given), nowhere)).status).toBe(0);
      expect(await states()).toEqual(['idle']);
    }
  });

  test('has reported nothing where the file was not written', async () => {
    const { run, files, states, engine } = await serviceHere();
    const json = files.at('r.json');
    engine.onRequest = () => void files.write('r.json', 'of somebody');
    const { status } = await runHere(run('enforce', [operation], '--json', json), nowhere);
    expect(status).toBe(1);
    expect(await states()).toEqual(['unreported']);
  });
});
