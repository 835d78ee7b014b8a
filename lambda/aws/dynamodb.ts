import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { parseJson } from '../gms/responses/json-value.ts';
import { type Ledger, LedgerError } from '../ledger/ledger.ts';
import { parseRecord, revisionOf, type StoredRecord, storable } from '../ledger/record.ts';
import { replaceOnce, retried } from '../ledger/replace-once.ts';
import { denied, isDenied, isThrottling, timeouts } from './calls.ts';

interface DynamoDbLedgerOptions {
  table: string;
  /** The partition key. One server belongs to one stage. */
  stage: string;
  client?: DynamoDBClient;
  /** How long one call may take to the last byte of its answer, milliseconds. */
  callMillis?: number;
  /** Waits this many milliseconds; tests pass one that returns at once. */
  pause?: (millis: number) => Promise<unknown>;
}

/** Pauses before the second, third and fourth attempt of one call, milliseconds. */
const pausesMillis = [100, 500, 2000];

/** Pages of a megabyte, far more than the records of one stage: a listing that goes on beyond that may never end. */
const maxPages = 20;

type Item = Record<string, AttributeValue>;

const runsIndex = 'runs';

/**
 * The ledger in a DynamoDB table with the keys `ledger` (the stage) and `index`. The record itself is one JSON text.
 * Beside it are two attributes: its revision, because every write is conditional on it, and the random ID of the last
 * write.
 *
 * The SDK's own retries are off: they may repeat a write whose answer was lost, and the repeat then fails its condition
 * because the first one succeeded (`replaceOnce`).
 */
export function dynamoDbLedger(options: DynamoDbLedgerOptions): Ledger {
  const { table, stage, client = dynamoDbClient(), callMillis = 8000, pause = sleep } = options;
  const keyOf = (index: string, ledger = stage) => ({ ledger: { S: ledger }, index: { S: index } });
  /** A key of its own: the records are listed by the stage's, and a stage's name has no slash. */
  const runsLedger = `${stage}/runs`;

  const limit = () => ({ abortSignal: AbortSignal.timeout(callMillis) });
  const retry = { pause, pauseAfter };
  const attempted = <Value>(what: string, work: Promise<Value>): Promise<Value> =>
    work.catch((error: unknown) => {
      throw ledgerError(table, what, error);
    });
  const repeated = <Value>(what: string, call: () => Promise<Value>): Promise<Value> =>
    attempted(what, retried(call, retry));

  const getItem = (index: string, ledger?: string): Promise<Item | undefined> => {
    const command = new GetItemCommand({ TableName: table, Key: keyOf(index, ledger), ConsistentRead: true });
    return repeated(`read ${index}`, async () => (await client.send(command, limit())).Item);
  };

  return {
    async read(index) {
      const item = await getItem(index);
      return item && parseItem(index, item);
    },

    async list() {
      const records: StoredRecord[] = [];
      let start: Item | undefined;
      for (let pages = 0; pages < maxPages; pages++) {
        const command = new QueryCommand({
          TableName: table,
          KeyConditionExpression: '#ledger = :ledger',
          ExpressionAttributeNames: { '#ledger': 'ledger' },
          ExpressionAttributeValues: { ':ledger': { S: stage } },
          ConsistentRead: true,
          ExclusiveStartKey: start,
        });
        const page = await repeated('list the records', () => client.send(command, limit()));
        for (const item of page.Items ?? []) records.push(parseItem(item['index']?.S ?? '', item));
        start = page.LastEvaluatedKey;
        if (start === undefined) return records;
      }
      throw new LedgerError(
        `Tried to list the ledger table ${table}: after ${maxPages} pages there is still another; find out what else writes to this table.`,
      );
    },

    runs: {
      readRuns: async () => (await getItem(runsIndex, runsLedger))?.['runs']?.S,
      async replaceRuns(text, before) {
        const Item = { ...keyOf(runsIndex, runsLedger), runs: { S: text } };
        const command = new PutItemCommand({
          TableName: table,
          Item,
          ...(before === undefined
            ? { ConditionExpression: 'attribute_not_exists(#runs)' }
            : { ConditionExpression: '#runs = :before', ExpressionAttributeValues: { ':before': { S: before } } }),
          ExpressionAttributeNames: { '#runs': 'runs' },
        });
        return repeated('write the last runs', () => client.send(command, limit()).then(() => true, takenAsFalse));
      },
    },

    async replace(next) {
      const { index } = next;
      const item = { ...keyOf(index), ...itemOf(next) };
      const put = async (writeId: string) => {
        const Item = { ...item, writeId: { S: writeId } };
        const command = new PutItemCommand({ TableName: table, Item, ...revisionCondition(revisionOf(next) - 1) });
        return client.send(command, limit()).then(() => true, takenAsFalse);
      };
      const read = async () => (await getItem(index))?.['writeId']?.S;
      return attempted(`write ${index}`, replaceOnce({ read, put }, retry));
    },
  };
}

function takenAsFalse(error: unknown): false {
  if (error instanceof ConditionalCheckFailedException) return false;
  throw error;
}

/** Short timeouts (milliseconds) leave a function time for several attempts. */
export function dynamoDbClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  return new DynamoDBClient({ requestHandler: timeouts(5000), ...config, maxAttempts: 1 });
}

/** The condition that the stored record still has this revision; 0: that there is none. */
const revisionCondition = (revision: number) => ({
  ConditionExpression: revision === 0 ? 'attribute_not_exists(#revision)' : '#revision = :revision',
  ExpressionAttributeNames: { '#revision': 'revision' },
  ExpressionAttributeValues: revision === 0 ? undefined : { ':revision': { N: String(revision) } },
});

/** The state is only for people who look at the table. */
function itemOf(record: StoredRecord): Item {
  return {
    state: { S: record.state },
    revision: { N: String(revisionOf(record)) },
    record: { S: JSON.stringify(storable(record)) },
  };
}

function parseItem(index: string, item: Item): StoredRecord {
  const stored = parseJson(item['record']?.S ?? '');
  // The revision alone is what a release needs to write over a damaged record.
  const revision = Number(item['revision']?.N);
  return parseRecord(index, Number.isNaN(revision) ? stored : { ...Object(stored), revision });
}

function pauseAfter(error: unknown, attempt: number): number | undefined {
  return isRetryable(error) ? pausesMillis[attempt] : undefined;
}

/** Whether a retry may succeed: no answer, an overloaded or failing service. Refusals and LedgerError are final. */
function isRetryable(error: unknown): boolean {
  if (error instanceof LedgerError) return false;
  const { name, $metadata } = error as AwsError;
  const status = $metadata?.httpStatusCode;
  return status === undefined || status >= 500 || isThrottling(name ?? '');
}

type AwsError = Partial<Error> & { $metadata?: { httpStatusCode?: number } };

function ledgerError(table: string, what: string, error: unknown): LedgerError {
  if (error instanceof LedgerError) return error;
  const { name = 'Error', message = '', $metadata } = error as AwsError;
  const status = $metadata?.httpStatusCode;
  const remedy =
    status === undefined
      ? 'functions in a private network need a NAT gateway or the gateway endpoint for DynamoDB'
      : `${remedyOf(name, status)}; nothing is started without the ledger`;
  return new LedgerError(
    `Tried to ${what} in the ledger table ${table}: ${name}: ${message.slice(0, 200)}; ${remedy}.`,
  );
}

/** What is missing is made by deploying; a limit and a refusal come from elsewhere. */
function remedyOf(name: string, status: number): string {
  if (isThrottling(name)) return 'it takes no more requests for now, and the next run tries again';
  if (isDenied(name)) return `${denied} denies it: the message names which`;
  return status >= 500 ? 'the next run tries again' : 'if this persists, deploy the stack again';
}
