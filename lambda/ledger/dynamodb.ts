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
import { type Ledger, LedgerError } from './ledger.ts';
import {
  assertReadable,
  type Condition,
  conditionOf,
  type LedgerRecord,
  parseRecord,
  type StoredRecord,
} from './record.ts';
import { type Scheduled, scheduledSchema } from './scheduled.ts';

export interface DynamoDbLedgerOptions {
  table: string;
  /** The stage: the partition key. One server belongs to one stage. */
  ledger: string;
  client?: DynamoDBClient;
  /** Waits this many milliseconds; tests pass one that returns at once. */
  pause?: (millis: number) => Promise<unknown>;
}

/** Pauses before the second, third and fourth attempt of one call, milliseconds. */
const pausesMillis = [100, 500, 2000];

/** No search index begins with this: in every version, an item whose key does is not a record. */
const notARecord = '#';
const SCHEDULED_KEY = `${notARecord}scheduled`;

/**
 * The ledger in a DynamoDB table with the keys `ledger` and `index`. The record itself is one JSON text; its state, attempt id,
 * revision and version are stored beside it as attributes, because every write is conditional on them.
 *
 * The SDK's own retries are off: they may repeat a write whose answer was lost, and the repeat then fails its
 * condition because the first one succeeded. Here a lost answer is followed by a strongly consistent read.
 */
export function dynamoDbLedger({
  table,
  ledger,
  client = dynamoDbClient(),
  pause = sleep,
}: DynamoDbLedgerOptions): Ledger {
  const itemKey = (index: string) => ({ ledger: { S: ledger }, index: { S: index } });

  const retried = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        if (!mayPass(error) || attempt === pausesMillis.length) throw ledgerError(table, what, error);
        await pause(pausesMillis[attempt] ?? 0);
      }
    }
  };

  const getItem = (index: string) =>
    retried(`read ${index}`, async () => {
      const command = new GetItemCommand({ TableName: table, Key: itemKey(index), ConsistentRead: true });
      return (await client.send(command)).Item;
    });

  /**
   * A conditional put. `isOurs` decides from the stored item whether the write arrived although its answer was lost.
   */
  const putItem = async (
    index: string,
    item: Record<string, AttributeValue>,
    condition: WriteCondition,
    isOurs: (stored: Record<string, AttributeValue> | undefined) => boolean,
  ): Promise<boolean> => {
    let answerLost = false;
    for (let attempt = 0; ; attempt++) {
      try {
        await client.send(new PutItemCommand({ TableName: table, Item: { ...itemKey(index), ...item }, ...condition }));
        return true;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return answerLost && isOurs(await getItem(index));
        if (!mayPass(error)) throw ledgerError(table, `write ${index}`, error);
        if (isOurs(await getItem(index))) return true;
        if (attempt === pausesMillis.length) throw ledgerError(table, `write ${index}`, error);
        answerLost = true;
        await pause(pausesMillis[attempt] ?? 0);
      }
    }
  };

  return {
    async read(index) {
      const item = await getItem(index);
      return item && parseItem(index, item);
    },

    async list() {
      const records: StoredRecord[] = [];
      let start: Record<string, AttributeValue> | undefined;
      do {
        const page = await retried('list the records', () =>
          client.send(
            new QueryCommand({
              TableName: table,
              KeyConditionExpression: '#ledger = :ledger',
              ExpressionAttributeNames: { '#ledger': 'ledger' },
              ExpressionAttributeValues: { ':ledger': { S: ledger } },
              ConsistentRead: true,
              ExclusiveStartKey: start,
            }),
          ),
        );
        for (const item of page.Items ?? []) {
          const index = item['index']?.S ?? '';
          if (!index.startsWith(notARecord)) records.push(parseItem(index, item));
        }
        start = page.LastEvaluatedKey;
      } while (start !== undefined);
      return records;
    },

    async replace(previous, next) {
      assertReadable(next);
      const item = toItem(next);
      const isOurs = (stored: Record<string, AttributeValue> | undefined) =>
        stored?.['record']?.S === item['record']?.S;
      return putItem(next.index, item, previous ? follows(conditionOf(previous)) : isAbsent, isOurs);
    },

    async takeScheduledTime(taking) {
      const isOurs = (item: Record<string, AttributeValue> | undefined) => {
        const stored = scheduledOf(item);
        return stored?.runId === taking.runId && stored.runStartMillis === taking.runStartMillis;
      };
      if (await putItem(SCHEDULED_KEY, itemOf(taking), isLaterThanStored(taking), isOurs)) return taking;
      const stored = scheduledOf(await getItem(SCHEDULED_KEY));
      if (stored) return stored;
      throw new LedgerError(
        `The item ${SCHEDULED_KEY} of the ledger table ${table}, which says what scheduled time was taken last, cannot be read, so nothing is started. Delete that item.`,
      );
    },
  };
}

/** Short timeouts (milliseconds) leave a function time for several attempts. */
export function dynamoDbClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  const requestHandler = { connectionTimeout: 3000, requestTimeout: 5000, throwOnRequestTimeout: true };
  return new DynamoDBClient({ requestHandler, ...config, maxAttempts: 1 });
}

type WriteCondition = Pick<
  ConstructorParameters<typeof PutItemCommand>[0],
  'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>;

const isAbsent: WriteCondition = {
  ConditionExpression: 'attribute_not_exists(#ledger)',
  ExpressionAttributeNames: { '#ledger': 'ledger' },
};

/**
 * The condition that the stored record is still the one that was read, and that no other version of this program has
 * taken it over.
 */
function follows({ version, state, attemptId, revision }: Condition): WriteCondition {
  const sameAttempt = attemptId === undefined ? 'attribute_not_exists(#attemptId)' : '#attemptId = :attemptId';
  const sameRevision = revision === undefined ? 'attribute_not_exists(#revision)' : '#revision = :revision';
  return {
    ConditionExpression: `#state = :state AND ${sameAttempt} AND ${sameRevision} AND #version = :version`,
    ExpressionAttributeNames: {
      '#state': 'state',
      '#attemptId': 'attemptId',
      '#revision': 'revision',
      '#version': 'version',
    },
    ExpressionAttributeValues: {
      ':state': { S: state },
      ':version': { N: String(version) },
      ...(attemptId !== undefined && { ':attemptId': { S: attemptId } }),
      ...(revision !== undefined && { ':revision': { N: String(revision) } }),
    },
  };
}

const isLaterThanStored = ({ atMillis }: Scheduled): WriteCondition => ({
  ConditionExpression: 'attribute_not_exists(#ledger) OR #atMillis < :atMillis',
  ExpressionAttributeNames: { '#ledger': 'ledger', '#atMillis': 'atMillis' },
  ExpressionAttributeValues: { ':atMillis': { N: String(atMillis) } },
});

const itemOf = ({ atMillis, runId, runStartMillis }: Scheduled): Record<string, AttributeValue> => ({
  atMillis: { N: String(atMillis) },
  runId: { S: runId },
  runStartMillis: { N: String(runStartMillis) },
});

/** @returns undefined for an item that is missing or unreadable */
function scheduledOf(item: Record<string, AttributeValue> | undefined): Scheduled | undefined {
  const { atMillis, runId, runStartMillis } = item ?? {};
  const read = { atMillis: Number(atMillis?.N), runId: runId?.S, runStartMillis: Number(runStartMillis?.N) };
  return scheduledSchema.safeParse(read).data;
}

const toItem = (record: LedgerRecord): Record<string, AttributeValue> => ({
  state: { S: record.state },
  version: { N: String(record.version) },
  ...(record.attemptId !== undefined && { attemptId: { S: record.attemptId } }),
  ...(record.revision !== undefined && { revision: { N: String(record.revision) } }),
  record: { S: JSON.stringify(record) },
});

function parseItem(index: string, item: Record<string, AttributeValue>): StoredRecord {
  let stored: unknown;
  try {
    stored = JSON.parse(item['record']?.S ?? '');
  } catch {
    stored = undefined;
  }
  return parseRecord(index, stored);
}

/** Whether a retry may succeed: no answer, an overloaded or failing service. Refusals are final. */
function mayPass(error: unknown): boolean {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  return (
    status === undefined ||
    status >= 500 ||
    /Throttl|ProvisionedThroughputExceeded|RequestLimitExceeded/.test(name ?? '')
  );
}

function ledgerError(table: string, what: string, error: unknown): LedgerError {
  const {
    name = 'Error',
    message = '',
    $metadata,
  } = error as { name?: string; message?: string; $metadata?: { httpStatusCode?: number } };
  const remedy =
    $metadata?.httpStatusCode === undefined
      ? 'functions in a private network need a NAT gateway or the gateway endpoint for DynamoDB'
      : 'deploy the stack again if it goes on; nothing is started without the ledger';
  return new LedgerError(
    `Tried to ${what} in the ledger table ${table}: ${name}: ${message.slice(0, 200)}; ${remedy}.`,
  );
}
