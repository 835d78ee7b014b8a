import { createServer, request } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import {
  type AttributeValue,
  CreateTableCommand,
  DescribeTableCommand,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dynamoDbClient, dynamoDbLedger } from '../../../lambda/aws/dynamodb.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { ledgerContract } from '../../support/ledger-contract.ts';
import { listening } from '../../support/loopback.ts';
import { anIdle, anIndex } from '../../support/records.ts';

const stage = 'prod';
const index = anIndex;
const by = (runId: string, revision = 1) => anIdle({ revision, lastSender: { runId, runStartMillis: 0 } });
const credentials = { accessKeyId: 'none', secretAccessKey: 'none' };
const newClient = (endpoint: string) => dynamoDbClient({ endpoint, region: 'eu-central-1', credentials });
/** One client for every test that asks the database itself: creating one takes longer than asking. */
let own: ReturnType<typeof newClient> | undefined;
const clientOf = (url: string) => {
  if (url !== endpoint) return newClient(url);
  own ??= newClient(url);
  return own;
};

const database = dynalite({ createTableMs: 0 });
let endpoint: string;
let tables = 0;

beforeAll(async () => {
  ({ url: endpoint } = await listening(database));
});
afterAll(() => new Promise<void>((resolve) => database.close(() => resolve())));

const keyOf = (at: string) => ({ ledger: { S: stage }, index: { S: at } });

ledgerContract('The DynamoDB ledger', async () => {
  const table = await newTable();
  return {
    ledger: () => dynamoDbLedger({ table, stage, client: clientOf(endpoint) }),
    plant: async (at, planted) => {
      const { revision } = planted as { revision?: number };
      const Item: Record<string, AttributeValue> = { ...keyOf(at), record: { S: JSON.stringify(planted) } };
      if (revision !== undefined) Item['revision'] = { N: String(revision) };
      await clientOf(endpoint).send(new PutItemCommand({ TableName: table, Item }));
    },
  };
});

describe('The DynamoDB ledger', () => {
  test('keeps the records of two stages apart', async () => {
    const table = await newTable();
    const open = (other: string) => dynamoDbLedger({ table, stage: other, client: clientOf(endpoint) });
    await open(stage).replace(by('a'));
    expect(await open('test').list()).toEqual([]);
    expect(await open('test').read(index)).toBeUndefined();
  });

  test('lists more records than one page holds', async () => {
    const table = await newTable();
    const ledger = dynamoDbLedger({ table, stage, client: clientOf(endpoint) });
    const names = Array.from({ length: 8 }, (_, number) => `dataset.aspect${number}`);
    // DynamoDB ends a page at 1 MB.
    for (const name of names) await ledger.replace({ ...by('r'.repeat(150_000)), index: name });
    expect((await ledger.list()).map((each) => each.index)).toEqual(names);
  });

  test('does not overwrite a record that a newer version has taken over', async () => {
    const table = await newTable();
    const client = clientOf(endpoint);
    const Item = { ...keyOf(index), revision: { N: '5' }, record: { S: 'whatever version 9 writes' } };
    await client.send(new PutItemCommand({ TableName: table, Item }));
    const ledger = dynamoDbLedger({ table, stage, client });
    expect(await ledger.replace(by('a', 5))).toBe(false);
    expect((await client.send(new GetItemCommand({ TableName: table, Key: keyOf(index) }))).Item).toEqual(Item);
    expect(await ledger.read(index)).toEqual({
      state: 'unreadable',
      index,
      fields: expect.anything(),
      stored: expect.objectContaining({ revision: 5 }),
    });
  });

  test('recognises its own write when the answer was lost', async () => {
    const table = await newTable();
    await using proxy = await flakyProxy(endpoint, { dropAnswers: 1 });
    const ledger = dynamoDbLedger({ table, stage, client: clientOf(proxy.url), pause: noPause });
    expect(await ledger.replace(by('mine'))).toBe(true);
    expect(proxy.puts()).toBe(1);
  });

  test('recognises its own write when both the answer and the following read were lost', async () => {
    const table = await newTable();
    await using proxy = await flakyProxy(endpoint, { dropAnswers: 1, refuseReads: 2 });
    const ledger = dynamoDbLedger({ table, stage, client: clientOf(proxy.url), pause: noPause });
    expect(await ledger.replace(by('mine'))).toBe(true);
  });

  test('does not mistake another’s write of the same record for its own when the answer was lost', async () => {
    const table = await newTable();
    await dynamoDbLedger({ table, stage, client: clientOf(endpoint) }).replace(by('same'));
    await using proxy = await flakyProxy(endpoint, { dropAnswers: 1 });
    const ledger = dynamoDbLedger({ table, stage, client: clientOf(proxy.url), pause: noPause });
    expect(await ledger.replace(by('same'))).toBe(false);
  });

  test('writes again when the write itself was lost', async () => {
    const table = await newTable();
    await using proxy = await flakyProxy(endpoint, { dropRequests: 2 });
    const ledger = dynamoDbLedger({ table, stage, client: clientOf(proxy.url), pause: noPause });
    expect(await ledger.replace(by('mine'))).toBe(true);
    expect(proxy.puts()).toBe(3);
  });

  test('lets one of six writers win although every first answer is lost', async () => {
    const table = await newTable();
    await dynamoDbLedger({ table, stage, client: clientOf(endpoint) }).replace(anIdle());
    await using proxy = await flakyProxy(endpoint, { dropAnswers: 6 });
    const client = clientOf(proxy.url);
    const won = await Promise.all(
      Array.from({ length: 6 }, (_, number) =>
        dynamoDbLedger({ table, stage, client, pause: noPause }).replace(by(`${number}`, 2)),
      ),
    );
    expect(won.filter(Boolean)).toHaveLength(1);
  });

  test('gives up with an error that names the table when nothing gets through', async () => {
    const table = await newTable();
    await using proxy = await flakyProxy(endpoint, { dropRequests: 1000, refuseReads: 1000 });
    const ledger = dynamoDbLedger({ table, stage, client: clientOf(proxy.url), pause: noPause });
    const failure = await ledger.replace(by('mine')).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LedgerError);
    expect((failure as Error).message).toMatch(
      new RegExp(`ledger table ${table}.*(NAT gateway|deploy the stack again)`),
    );
  });

  test('does not retry what DynamoDB refuses', async () => {
    const ledger = dynamoDbLedger({ table: 'not-there', stage, client: clientOf(endpoint), pause: neverPause });
    await expect(ledger.read(index)).rejects.toThrow(
      /read dataset_operationaspect_v1 in the ledger table not-there: ResourceNotFound/,
    );
    await expect(ledger.replace(anIdle())).rejects.toThrow(LedgerError);
  });
});

const noPause = async () => {};
const neverPause = () => Promise.reject(new Error('paused'));

/** Dynalite makes a table some turns after it has said so, and refuses every request for it until then. */
async function newTable(): Promise<string> {
  const TableName = `ledger-${++tables}`;
  const client = clientOf(endpoint);
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'ledger', AttributeType: 'S' },
        { AttributeName: 'index', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'ledger', KeyType: 'HASH' },
        { AttributeName: 'index', KeyType: 'RANGE' },
      ],
    }),
  );
  while ((await client.send(new DescribeTableCommand({ TableName }))).Table?.TableStatus !== 'ACTIVE') await turn();
  return TableName;
}

/**
 * A network in front of DynamoDB that loses the answers to writes, loses writes before they arrive, or fails reads (503).
 */
async function flakyProxy(
  target: string,
  losses: { dropAnswers?: number; dropRequests?: number; refuseReads?: number },
) {
  const left = { dropAnswers: 0, dropRequests: 0, refuseReads: 0, ...losses };
  let puts = 0;
  const proxy = createServer((incoming, outgoing) => {
    const isPut = String(incoming.headers['x-amz-target']).endsWith('.PutItem');
    if (isPut) puts++;
    if (isPut && left.dropRequests-- > 0) return incoming.socket.destroy();
    if (!isPut && left.refuseReads-- > 0) {
      outgoing.writeHead(503).end();
      return;
    }
    const { method, url: path, headers } = incoming;
    const forward = request(new URL(path!, target), { method, headers }, (answer) => {
      if (isPut && left.dropAnswers-- > 0) {
        answer.resume().on('end', () => incoming.socket.destroy());
        return;
      }
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(forward);
  });
  const { url, close } = await listening(proxy);
  return { url, puts: () => puts, [Symbol.asyncDispose]: close };
}
