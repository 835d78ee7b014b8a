import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { paintFor } from '../../../cli/screen/colour.ts';
import { screenOn } from '../../../cli/screen/screen.ts';
import { keepWriting } from '../../../cli/screen/streams.ts';

const stream = (more: object = {}) => Object.assign(new PassThrough(), more) as unknown as NodeJS.WriteStream;
const terminal = { isTTY: true, columns: 80 };

describe('colour', () => {
  it.each<[string, object, NodeJS.ProcessEnv, boolean]>([
    ['is there on a terminal', terminal, { TERM: 'xterm' }, true],
    ['is not in a file or a pipe', {}, { TERM: 'xterm' }, false],
    ['is not on a terminal that knows none', terminal, { TERM: 'dumb' }, false],
    ['is not with NO_COLOR', terminal, { TERM: 'xterm', NO_COLOR: '1' }, false],
    ['is there with an empty NO_COLOR', terminal, { TERM: 'xterm', NO_COLOR: '' }, true],
    ['is there with FORCE_COLOR, also in a pipe', {}, { FORCE_COLOR: '1' }, true],
    ['is there with FORCE_COLOR and NO_COLOR', terminal, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
    ['is not with FORCE_COLOR=0', terminal, { TERM: 'xterm', FORCE_COLOR: '0' }, false],
  ])('%s', (_name, more, env, expected) => {
    const painted = paintFor(screenOn(stream(more), env))('failed', 'failed');
    expect(painted).toBe(expected ? '\u001b[31mfailed\u001b[39m' : 'failed');
  });
});

describe('output that cannot be written', () => {
  const broken = (code: string) => {
    const out = stream();
    out.write = () => {
      throw Object.assign(new Error(code), { code });
    };
    return out;
  };

  it.each([
    ['EPIPE', ''],
    ['ENOSPC', 'The output cannot be written (the disk is full): free some space. The run goes on.\n'],
  ])('because of %s does not stop the run, and is reported once if that helps', (code, told) => {
    const [out, err] = [broken(code), stream()];
    keepWriting(out, err);
    const screen = screenOn(out, {});
    expect(() => {
      screen.write('one\n');
      screen.write('two\n');
    }).not.toThrow();
    expect(String((err as unknown as PassThrough).read() ?? '')).toBe(told);
  });

  it('anywhere does not stop the run, either', () => {
    const [out, err] = [broken('ENOSPC'), broken('ENOSPC')];
    keepWriting(out, err);
    expect(() => screenOn(out, {}).write('one\n')).not.toThrow();
  });
});
