import { type AttributeValue, type DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { dayMillis } from '../facts/limits.ts';
import { MemoryError, type Night, type Nights, nightSchema, nightsKeptDays, nightsRead } from './night.ts';

export interface DynamoDbNightsOptions {
  table: string;
  client: DynamoDBClient;
}

/**
 * Nights in a DynamoDB table with the keys `index` and `night`, one item each below 200 bytes, which the table drops
 * after 400 days by `expiresAt`. Attribute names count as bytes, so they are single letters.
 */
export function dynamoDbNights({ table, client }: DynamoDbNightsOptions): Nights {
  const attempt = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      throw new MemoryError(
        `cannot ${what} the table ${table}: ${error instanceof Error ? error.name : 'no reason given'}`,
      );
    }
  };
  return {
    async read(index) {
      const { Items = [] } = await attempt('read', () =>
        client.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: '#index = :index',
            ExpressionAttributeNames: { '#index': 'index' },
            ExpressionAttributeValues: { ':index': { S: index } },
            ScanIndexForward: false,
            Limit: nightsRead,
          }),
        ),
      );
      return Items.flatMap(nightOf).reverse();
    },
    async write(night) {
      await attempt('write', () => client.send(new PutItemCommand({ TableName: table, Item: itemOf(night) })));
    },
  };
}

const letters = {
  rows: 'r',
  overdue: 'd',
  mb: 'm',
  name: 'p',
  outcome: 'o',
  deleted: 'x',
  rowsLeft: 'l',
  mbLeft: 'n',
  seconds: 's',
  copied: 'c',
} as const satisfies Record<Exclude<keyof Night, 'index' | 'night'>, string>;

/** Most physical names contain the index's key: it is omitted from them. */
const placeholder = '*';

export function itemOf(night: Night): Record<string, AttributeValue> {
  const { index, night: at, name } = night;
  const short = { ...night, ...(name !== undefined && { name: name.replace(index, placeholder) }) };
  const expiresAt = Math.round((Date.parse(at) + nightsKeptDays * dayMillis) / 1000);
  const item: Record<string, AttributeValue> = {
    index: { S: index },
    night: { S: at },
    expiresAt: { N: `${expiresAt}` },
  };
  for (const [field, letter] of Object.entries(letters)) {
    const value = short[field as keyof typeof letters];
    if (typeof value === 'number') item[letter] = { N: `${Math.round(value * 10) / 10}` };
    else if (value !== undefined) item[letter] = { S: value };
  }
  return item;
}

/** Skips items of another version, or written by hand. */
export function nightOf(item: Record<string, AttributeValue>): Night[] {
  const index = item['index']?.S;
  const read: Record<string, unknown> = { index, night: item['night']?.S };
  for (const [field, letter] of Object.entries(letters)) {
    const { S, N } = item[letter] ?? {};
    if (N !== undefined) read[field] = Number(N);
    else if (S !== undefined) read[field] = field === 'name' ? S.replace(placeholder, index ?? '') : S;
  }
  const parsed = nightSchema.safeParse(read);
  return parsed.success ? [parsed.data] : [];
}
