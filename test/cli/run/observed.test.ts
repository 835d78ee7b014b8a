import { describe, expect, it } from 'vitest';
import { observer, type Pending } from '../../../cli/run/observed.ts';
import type { Transport } from '../../../lambda/operations/http/transport.ts';
import type { Operations } from '../../../lambda/operations/operations.ts';

const exchange = { url: 'http://gms/operations', headers: {}, body: '' };
const fields = (aspect: string) => ({ entityType: 'dataset', aspect, endTimeMillis: 0 });

/** Operations that send as often and answer when a test says. */
function aServer() {
  const told: Array<Pending | undefined> = [];
  const { transport, operations } = observer((pending) => told.push(pending && { ...pending }), 2);
  const network: Transport = {
    post: async () => ({ status: 200, headers: {}, body: '', complete: true }),
    postOnce: async () => ({ status: 200, headers: {}, body: '', complete: true }),
  };
  const wire = transport(network);
  const answers = new Map<string, () => void>();
  const read = async (name: string, tries: number) => {
    for (let at = 0; at < tries; at++) await wire.post(exchange);
    await new Promise<void>((resolve) => answers.set(name, resolve));
  };
  const observed = operations({
    dryRun: async ({ aspect }) => (await read(aspect, aspect === 'slow' ? 2 : 1)) as never,
    indexSizes: async () => (await read('sizes', 4)) as never,
    taskStatus: async () => (await read('status', 1)) as never,
    truncate: async () => (await wire.postOnce(exchange, () => true)) as never,
  } satisfies Operations);
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { observed, answers, turn, last: () => told.at(-1) };
}

describe('what the server has not answered', () => {
  it('is the oldest of several questions, each with its own tries', async () => {
    const { observed, answers, turn, last } = aServer();
    const slow = observed.dryRun(fields('slow'));
    const quick = observed.dryRun(fields('quick'));
    await turn();
    expect(last()).toMatchObject({ operation: 'dry-run', index: 'dataset.slow', attempt: 2, attempts: 2 });
    answers.get('slow')!();
    await slow;
    expect(last()).toMatchObject({ index: 'dataset.quick', attempt: 1, limitMillis: 120_000 });
    answers.get('quick')!();
    await quick;
    expect(last()).toBeUndefined();
  });

  it('does not count a renewed token as another try', async () => {
    const { observed, answers, turn, last } = aServer();
    const sizes = observed.indexSizes({ attempts: 3 });
    await turn();
    expect(last()).toMatchObject({ operation: 'index-sizes', attempt: 3, attempts: 3 });
    answers.get('sizes')!();
    await sizes;
  });

  it('ends when a truncate is answered, which is sent once', async () => {
    const { observed, last } = aServer();
    const truncate = observed.truncate(fields('operation'), () => true);
    expect(last()).toMatchObject({ operation: 'truncate', index: 'dataset.operation', attempt: 1, attempts: 1 });
    await truncate;
    expect(last()).toBeUndefined();
  });
});
