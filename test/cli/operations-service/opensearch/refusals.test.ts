import { describe, expect, onTestFinished, test } from 'vitest';
import { readEngineAddress } from '../../../operations-service/opensearch/address.ts';
import { connectEngine } from '../../../operations-service/opensearch/engine.ts';
import { loadSamples } from '../../../operations-service/opensearch/load.ts';
import { fakeEngine } from './fake.ts';

/** Anything that cannot be used is refused in one sentence, before anything is changed. */

test.each(['http://127.0.0.1:9200', 'http://localhost:9200', 'http://[::1]:9200', 'https://127.1.2.3'])(
  '%s is on this machine',
  (address) => {
    expect(readEngineAddress(address).href).toContain(new URL(address).host);
  },
);

test.each([
  'http://10.0.0.5:9200',
  'http://search.example:9200',
  'http://127.0.0.1.example:9200',
  'http://0.0.0.0:9200',
])('%s is refused, because it is not on this machine', (address) => {
  expect(() => readEngineAddress(address)).toThrow(/is not on this machine: only a loopback address will do/);
});

test.each(['127.0.0.1:9200', 'localhost', 'ftp://127.0.0.1'])('%s is not an address', (address) => {
  expect(() => readEngineAddress(address)).toThrow(/is not the address of a search engine/);
});

describe('behind the address', () => {
  test('another product is refused', async () => {
    const { address, calls } = await fakeEngine({ distribution: '', number: '8.15.0' });
    await expect(connectEngine({ address })).rejects.toThrow(
      /^OpenSearch 2 is needed at 127\.0\.0\.1:\d+, but Elasticsearch 8\.15\.0 is there\.$/,
    );
    expect(calls.map(({ line }) => line)).toEqual(['GET /']);
  });

  test('another version is refused', async () => {
    const { address } = await fakeEngine({ number: '3.1.0' });
    await expect(connectEngine({ address })).rejects.toThrow(/but opensearch 3\.1\.0 is there/);
  });

  test('no search engine is reported in one sentence', async () => {
    const engine = await fakeEngine();
    engine.close();
    await expect(connectEngine({ address: engine.address })).rejects.toThrow(/^No search engine answers at /);
  });
});

test.each(['specification', 'postgres'] as const)('the profile %s has no search engine', async (profile) => {
  const { address } = await fakeEngine();
  await expect(connectEngine({ address, profile })).rejects.toThrow(`The profile ${profile} has no search engine`);
});

test.each(['abort-at=0.5', 'rows-per-second=5', 'gc-after=1', 'not-an-alias'])(
  'the fault %s is one of the simulated rows',
  async (fault) => {
    const { address } = await fakeEngine();
    await expect(connectEngine({ address, faults: [fault] })).rejects.toThrow(
      expect.objectContaining({ name: 'FaultError', message: expect.stringContaining('one of the simulated rows') }),
    );
  },
);

test('samples are not mixed with what is there', async () => {
  const { address, lines } = await fakeEngine();
  const service = await connectEngine({ address });
  onTestFinished(() => service.close());
  const sample = { entityType: 'dataset', aspect: 'operation', rows: 5, days: 3 };
  await expect(loadSamples(service, [sample], 1)).rejects.toThrow('dataset_operationaspect_v1 already exists');
  expect(lines()).toEqual(['HEAD /dataset_operationaspect_v1']);
});
