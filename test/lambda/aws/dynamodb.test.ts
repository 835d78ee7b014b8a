import { setImmediate as turn } from 'node:timers/promises';
import {
  type AttributeValue,
  CreateTableCommand,
  DescribeTableCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dynamoDbClient, dynamoDbLedger } from '../../../lambda/aws/dynamodb.ts';
import { type LedgerStore, ledgerContract, runsContract } from '../../support/ledger-contract.ts';
import { listening } from '../../support/loopback.ts';
import { anIdle, anIndex } from '../../support/records.ts';

const stage = 'prod';
const index = anIndex;
const by = (runId: string, revision = 1) => anIdle({ revision, lastSender: { runId, runStartMillis: 0 } });
const credentials = { accessKeyId: 'none', secretAccessKey: 'none' };
const newClient = (endpoint: string) => dynamoDbClient({ endpoint, region: 'eu-central-1', credentials });
/** One for every test that asks the database itself: creating one takes longer than asking. */
let client: ReturnType<typeof newClient>;

const database = dynalite({ createTableMs: 0 });
let endpoint: string;
let tables = 0;

beforeAll(async () => {
  ({ url: endpoint } = await listening(database));
  client = newClient(endpoint);
});
afterAll(() => new Promise<void>((resolve) => database.close(() => resolve())));

const keyOf = (at: string) => ({ ledger: { S: stage }, index: { S: at } });

const emptyStore = async (): Promise<LedgerStore> => {
  const table = await newTable();
  return {
    ledger: () => dynamoDbLedger({ table, stage, client }),
    plant: async (at, planted) => {
      const { revision } = planted as { revision?: number };
      const Item: Record<string, AttributeValue> = { ...keyOf(at), record: { S: JSON.stringify(planted) } };
      if (revision !== undefined) Item['revision'] = { N: String(revision) };
      await client.send(new PutItemCommand({ TableName: table, Item }));
    },
  };
};
ledgerContract('The DynamoDB ledger', emptyStore);
runsContract('The DynamoDB ledger', emptyStore);

describe('The DynamoDB ledger', () => {
  test('keeps the records of two stages apart', async () => {
    const table = await newTable();
    const open = (other: string) => dynamoDbLedger({ table, stage: other, client });
    await open(stage).replace(by('a'));
    expect(await open('test').list()).toEqual([]);
    expect(await open('test').read(index)).toBeUndefined();
  });

  test('lists more records than one page holds', async () => {
    const table = await newTable();
    const ledger = dynamoDbLedger({ table, stage, client });
    const names = Array.from({ length: 8 }, (_, number) => `dataset.aspect${number}`);
    // DynamoDB ends a page at 1 MB.
    for (const name of names) await ledger.replace({ ...by('r'.repeat(150_000)), index: name });
    expect((await ledger.list()).map((each) => each.index)).toEqual(names);
  });
});

/** Dynalite makes a table some turns after it has said so, and refuses every request for it until then. */
async function newTable(): Promise<string> {
  const TableName = `ledger-${++tables}`;
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
