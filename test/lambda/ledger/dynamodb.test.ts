import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateTableCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dynamoDbClient, dynamoDbLedger } from '../../../lambda/ledger/dynamodb.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { anIdle, anIndex, aReserved } from '../../support/records.ts';
import { ledgerContract } from './contract.ts';

const stage = 'prod';
const index = anIndex;
const idle = anIdle();
const reserved = (attemptId: string) => aReserved({ attemptId });
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
  endpoint = await listen(database);
});
afterAll(() => new Promise<void>((resolve) => database.close(() => resolve())));

ledgerContract('The DynamoDB ledger', async () => {
  const table = await newTable();
  return {
    ledger: () => dynamoDbLedger({ table, ledger: stage, client: clientOf(endpoint) }),
    plant: async (at, planted) => {
      const {
        state = 'unknown',
        version = 0,
        attemptId,
      } = planted as { state?: string; version?: number; attemptId?: string };
      await clientOf(endpoint).send(
        new PutItemCommand({
          TableName: table,
          Item: {
            ledger: { S: stage },
            index: { S: at },
            state: { S: state },
            version: { N: String(version) },
            ...(attemptId !== undefined && { attemptId: { S: attemptId } }),
            record: { S: JSON.stringify(planted) },
          },
        }),
      );
    },
  };
});

describe('The DynamoDB ledger', () => {
  test('keeps the records of two stages apart', async () => {
    const table = await newTable();
    const open = (ledger: string) => dynamoDbLedger({ table, ledger, client: clientOf(endpoint) });
    await open(stage).replace(undefined, reserved('a'));
    expect(await open('test').list()).toEqual([]);
    expect(await open('test').read(index)).toBeUndefined();
  });

  test('lists more records than one page holds', async () => {
    const table = await newTable();
    const ledger = dynamoDbLedger({ table, ledger: stage, client: clientOf(endpoint) });
    const names = Array.from({ length: 12 }, (_, number) => `dataset.aspect${String(number).padStart(2, '0')}`);
    // DynamoDB ends a page at 1 MB.
    const sentBy = [{ runId: 'r'.repeat(150_000), runStartMillis: 0, at: 0 }];
    for (const name of names) await ledger.replace(undefined, anIdle({ index: name, sentBy }));
    expect((await ledger.list()).map((each) => each.index)).toEqual(names);
  });

  test('does not overwrite a record that a newer version has taken over', async () => {
    const table = await newTable();
    const client = clientOf(endpoint);
    const Item = {
      ledger: { S: stage },
      index: { S: index },
      state: { S: 'idle' },
      version: { N: '9' },
      record: { S: 'whatever version 9 writes' },
    };
    await client.send(new PutItemCommand({ TableName: table, Item }));
    expect(await dynamoDbLedger({ table, ledger: stage, client }).replace(idle, reserved('a'))).toBe(false);
    const Key = { ledger: Item.ledger, index: Item.index };
    expect((await client.send(new GetItemCommand({ TableName: table, Key }))).Item).toEqual(Item);
  });

  test('refuses a scheduled time when the stored one is unreadable', async () => {
    const table = await newTable();
    const client = clientOf(endpoint);
    const ledger = dynamoDbLedger({ table, ledger: stage, client });
    const taking = { atMillis: 5, runId: 'run', runStartMillis: 7 };
    for (const atMillis of [undefined, { S: '4' }, { N: '4' }, { N: '6' }]) {
      const Item = { ledger: { S: stage }, index: { S: '#scheduled' }, ...(atMillis && { atMillis }) };
      await client.send(new PutItemCommand({ TableName: table, Item }));
      const taken = ledger.takeScheduledTime(taking);
      if (atMillis?.N === '4') expect(await taken).toEqual(taking);
      else await expect(taken).rejects.toThrow(`The item #scheduled of the ledger table ${table}`);
    }
  });

  test('does not list other versions’ items that are no records', async () => {
    const table = await newTable();
    const client = clientOf(endpoint);
    const Item = { ledger: { S: stage }, index: { S: '#schedule' }, claims: { S: '[]' } };
    await client.send(new PutItemCommand({ TableName: table, Item }));
    expect(await dynamoDbLedger({ table, ledger: stage, client }).list()).toEqual([]);
  });

  test('recognises its own write when the answer was lost', async () => {
    const table = await newTable();
    await using proxy = await flakyProxy(endpoint, { dropAnswers: 1 });
    const ledger = dynamoDbLedger({ table, ledger: stage, client: clientOf(proxy.url), pause: noPause });
    expect(await ledger.replace(undefined, reserved('mine'))).toBe(true);
    expect(proxy.puts()).toBe(1);
  });

  test('recognises its own write when both the answer and the following read were lost', async () => {
    const table = await newTable();
    await using proxy = await flakyProxy(endpoint, { dropAnswers: 1, refuseReads: 2 });
    const ledger = dynamoDbLedger({ table, ledger: stage, client: clientOf(proxy.url), pause: noPause });
    expect(await ledger.replace(undefined, reserved('mine'))).toBe(true);
  });

  test('does not mistake another’s write for its own when the answer was lost', async () => {
    const table = await newTable();
    await dynamoDbLedger({ table, ledger: stage, client: clientOf(endpoint) }).replace(undefined, reserved('other'));
    await using proxy = await flakyProxy(endpoint, { dropAnswers: 1 });
    const ledger = dynamoDbLedger({ table, ledger: stage, client: clientOf(proxy.url), pause: noPause });
    expect(await ledger.replace(undefined, reserved('mine'))).toBe(false);
    expect(await ledger.read(index)).toMatchObject({ attemptId: 'other' });
  });

  test('writes again when the write itself was lost', async () => {
    const table = await newTable();
    await using proxy = await flakyProxy(endpoint, { dropRequests: 2 });
    const ledger = dynamoDbLedger({ table, ledger: stage, client: clientOf(proxy.url), pause: noPause });
    expect(await ledger.replace(undefined, reserved('mine'))).toBe(true);
    expect(proxy.puts()).toBe(3);
  });

  test('lets one of 20 acquirers win although every first answer is lost', async () => {
    const table = await newTable();
    await dynamoDbLedger({ table, ledger: stage, client: clientOf(endpoint) }).replace(undefined, idle);
    await using proxy = await flakyProxy(endpoint, { dropAnswers: 20 });
    const won = await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        dynamoDbLedger({ table, ledger: stage, client: clientOf(proxy.url), pause: noPause }).replace(
          idle,
          reserved(`${number}`),
        ),
      ),
    );
    expect(won.filter(Boolean)).toHaveLength(1);
  });

  test('gives up with an error that names the table when nothing gets through', async () => {
    const table = await newTable();
    await using proxy = await flakyProxy(endpoint, { dropRequests: 1000, refuseReads: 1000 });
    const ledger = dynamoDbLedger({ table, ledger: stage, client: clientOf(proxy.url), pause: noPause });
    const failure = await ledger.replace(undefined, reserved('mine')).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LedgerError);
    expect((failure as Error).message).toMatch(
      new RegExp(`ledger table ${table}.*(NAT gateway|deploy the stack again)`),
    );
  });

  test('does not retry what DynamoDB refuses', async () => {
    const ledger = dynamoDbLedger({ table: 'not-there', ledger: stage, client: clientOf(endpoint), pause: neverPause });
    await expect(ledger.read(index)).rejects.toThrow(
      /read dataset_operationaspect_v1 in the ledger table not-there: ResourceNotFound/,
    );
    await expect(ledger.replace(undefined, idle)).rejects.toThrow(LedgerError);
  });
});

const noPause = async () => {};
const neverPause = () => Promise.reject(new Error('paused'));

async function newTable(): Promise<string> {
  const TableName = `ledger-${++tables}`;
  await clientOf(endpoint).send(
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
  return TableName;
}

async function listen(of: Server): Promise<string> {
  await new Promise<void>((resolve) => of.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(of.address() as AddressInfo).port}`;
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
  const url = await listen(proxy);
  return {
    url,
    puts: () => puts,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
