import { expect, test } from 'vitest';
import { type Operations, OperationsError } from '../../../lambda/gms/operations.ts';
import type { ServerErrorKind } from '../../../lambda/model/server-error.ts';
import { readSizes } from '../../../lambda/truncation/sizes.ts';

const { signal } = new AbortController();

const failing = (error: Error) => ({
  indexSizes: async () => {
    throw error;
  },
});
const failure = (kind: ServerErrorKind) => new OperationsError({ kind, operation: 'index-sizes' });

test.each<ServerErrorKind>(['not-found', 'privilege', 'timeout', 'aborted', 'connect', 'unauthorized'])(
  'sizes that cannot be had (%s) are done without',
  async (kind) => {
    expect(await readSizes(failing(failure(kind)), signal)).toBeUndefined();
  },
);

test('a defect is thrown', async () => {
  await expect(readSizes(failing(new TypeError('a defect')), signal)).rejects.toThrow('a defect');
});

test('sizes are asked for once, until the step’s time is over', async () => {
  const given: unknown[] = [];
  const indexSizes: Operations['indexSizes'] = async (options) => {
    given.push(options);
    return [];
  };
  await readSizes({ indexSizes }, signal);
  expect(given).toEqual([{ signal, attempts: 1 }]);
});
