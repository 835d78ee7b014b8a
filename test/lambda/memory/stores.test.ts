import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { dynamoDbClient } from '../../../lambda/ledger/dynamodb.ts';
import { dynamoDbNights, itemOf } from '../../../lambda/memory/dynamodb.ts';
import { fileNights } from '../../../lambda/memory/file.ts';
import { MemoryError, type Night, type Nights, nightsInMemory, nightsRead } from '../../../lambda/memory/night.ts';

const start = Date.UTC(2026, 2, 1, 3, 30);
const at = (day: number) => new Date(start + day * 86_400_000).toISOString();
const index = 'dataset_operationaspect_v1';
const full: Night = {
  index,
  night: at(0),
  rows: 123_456_789,
  overdue: 23_456_789,
  mb: 12_345.6,
  name: `prod_${index}_1693050512123`,
  outcome: 'truncated',
  deleted: 23_456_789,
  rowsLeft: 100_000_000,
  mbLeft: 12_000.1,
  seconds: 7890,
};

const database = dynalite({ createTableMs: 0 });
const credentials = { accessKeyId: 'none', secretAccessKey: 'none' };
const client = () =>
  dynamoDbClient({
    endpoint: `http://127.0.0.1:${(database.address() as AddressInfo).port}`,
    region: 'eu-central-1',
    credentials,
  });
beforeAll(() => new Promise<void>((resolve) => database.listen(0, '127.0.0.1', () => resolve())));
afterAll(() => new Promise<void>((resolve) => database.close(() => resolve())));

let tables = 0;
async function newTable(): Promise<string> {
  const TableName = `nights-${++tables}`;
  await client().send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['index', 'night'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
      KeySchema: [
        { AttributeName: 'index', KeyType: 'HASH' },
        { AttributeName: 'night', KeyType: 'RANGE' },
      ],
    }),
  );
  return TableName;
}

const folders: string[] = [];
const newFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'nights-'));
  folders.push(folder);
  return join(folder, 'state', 'nights.jsonl');
};
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe.each<[string, () => Promise<Nights>]>([
  ['in memory', async () => nightsInMemory()],
  ['in a file', async () => fileNights(newFile(), () => start)],
  ['in DynamoDB', async () => dynamoDbNights({ table: await newTable(), client: client() })],
])('nights %s', (_, open) => {
  test('are read as they were written, oldest first, for one index', async () => {
    const nights = await open();
    expect(await nights.read(index)).toEqual([]);
    const older: Night = { index, night: at(-1), rows: 5, name: 'concrete' };
    for (const night of [full, older, { ...full, index: 'another' }]) await nights.write(night);
    expect(await nights.read(index)).toEqual([older, full]);
  });

  test('of one run are one: the verdict replaces what Plan saw', async () => {
    const nights = await open();
    await nights.write({ index, night: at(0), rows: 5 });
    await nights.write(full);
    expect(await nights.read(index)).toEqual([full]);
  });

  test('are read only as far back as needed', async () => {
    const nights = await open();
    for (let day = 0; day < nightsRead + 3; day++) await nights.write({ index, night: at(day), rows: day });
    const read = await nights.read(index);
    expect([read.length, read[0]?.rows, read.at(-1)?.rows]).toEqual([nightsRead, 3, nightsRead + 2]);
  });
});

describe('an item in DynamoDB', () => {
  /** An item's size as DynamoDB counts it: names and strings by bytes, numbers by digits. */
  const bytesOf = (item: ReturnType<typeof itemOf>) =>
    Object.entries(item).reduce(
      (sum, [name, { S, N }]) =>
        sum + name.length + (S !== undefined ? Buffer.byteLength(S) : Math.ceil((N?.length ?? 0) / 2) + 1),
      0,
    );

  test('with an outcome of a later version keeps its counts', async () => {
    const nights = dynamoDbNights({ table: await newTable(), client: client() });
    const { outcome: _, ...counts } = full;
    await nights.write({ ...full, outcome: 'of-a-later-version' as Night['outcome'] });
    expect(await nights.read(index)).toEqual([counts]);
  });

  test('stays below 200 bytes, and expires after 400 days', () => {
    const long = 'dataprocessinstance_dataprocessinstancerunaspecteventaspect_v1';
    const item = itemOf({ ...full, index: long, name: `prod_${long}_1693050512123`, copied: 100_000_000 });
    expect(bytesOf(item)).toBeLessThan(200);
    expect(item['expiresAt']).toEqual({ N: String((start + 400 * 86_400_000) / 1000) });
  });

  test('that is not a night is ignored', async () => {
    const table = await newTable();
    const nights = dynamoDbNights({ table, client: client() });
    const { PutItemCommand } = await import('@aws-sdk/client-dynamodb');
    await client().send(
      new PutItemCommand({ TableName: table, Item: { index: { S: index }, night: { S: at(0) }, r: { S: 'many' } } }),
    );
    expect(await nights.read(index)).toEqual([]);
  });

  test('that cannot be read is an error of the memory alone', async () => {
    const nights = dynamoDbNights({ table: 'not-there', client: client() });
    await expect(nights.read(index)).rejects.toThrow(MemoryError);
    await expect(nights.write(full)).rejects.toThrow(/cannot write the table not-there: ResourceNotFound/);
  });
});

describe('the file of nights', () => {
  test('ignores a line that was cut short, and takes more lines after it', async () => {
    const path = newFile();
    await fileNights(path, () => start).write(full);
    appendFileSync(path, '\n{"index":"x","nig');
    await fileNights(path, () => start).write({ ...full, night: at(1) });
    expect(await fileNights(path, () => start).read(index)).toHaveLength(2);
  });

  test('forgets what is older than 400 days, and is rewritten by the next process when it has grown large', async () => {
    const path = newFile();
    const later = () => start + 401 * 86_400_000;
    const nights = fileNights(path, later);
    await nights.write(full);
    expect(await nights.read(index)).toEqual([]);
    appendFileSync(path, `${' '.repeat(9 * 1024 * 1024)}\n`);
    await fileNights(path, later).write({ ...full, night: at(400) });
    expect(statSync(path).size).toBeLessThan(1000);
    expect(readFileSync(path, 'utf8')).not.toContain(at(0));
    expect(await nights.read(index)).toEqual([{ ...full, night: at(400) }]);
  });

  test('is rewritten at most once in a process if it is large and nothing in it is old', async () => {
    const path = newFile();
    const nights = fileNights(path, () => start);
    await nights.write(full);
    // Long names make the file large with few lines.
    const of = (at: number) => `${index}${at}${'x'.repeat(4000)}`;
    const line = (index: string) => `${JSON.stringify({ ...full, index })}\n`;
    appendFileSync(path, Array.from({ length: 2500 }, (_, at) => line(of(at))).join(''));
    expect(statSync(path).size).toBeGreaterThan(8 * 1024 * 1024);
    const other = fileNights(path, () => start);
    await other.write({ ...full, night: at(-1) });
    const { ino, size } = statSync(path);
    for (let night = -12; night < -1; night++) await other.write({ ...full, night: at(night) });
    expect(statSync(path).ino).toBe(ino);
    expect(statSync(path).size).toBeLessThan(size + 12 * line(`${index}0`).length);
    expect(await other.read(index)).toHaveLength(13);
    expect(await other.read(of(2499))).toHaveLength(1);
  });

  test('cannot be read by other users, and errors say what failed', async () => {
    const path = newFile();
    await fileNights(path).write({ ...full, night: new Date().toISOString() });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(`${path}.folder`, '');
    await expect(fileNights(join(`${path}.folder`, 'x')).write(full)).rejects.toThrow(
      /cannot write .*(ENOTDIR|EEXIST)/,
    );
  });
});
