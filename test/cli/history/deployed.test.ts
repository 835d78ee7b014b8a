import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateTableCommand, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readDeployedMemory } from '../../../cli/history/deployed.ts';
import { nightsTableName } from '../../../infra/stage/table-names.ts';
import { dynamoDbClient } from '../../../lambda/ledger/dynamodb.ts';
import { dynamoDbNights } from '../../../lambda/memory/dynamodb.ts';
import type { Night } from '../../../lambda/memory/night.ts';

const database = dynalite({ createTableMs: 0 });
const configFor = (port: number): DynamoDBClientConfig => ({
  endpoint: `http://127.0.0.1:${port}`,
  region: 'eu-central-1',
  credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
});
const config = () => configFor((database.address() as AddressInfo).port);

const indices = ['dataset_operationaspect_v1', 'dataset_datasetprofileaspect_v1'];
const nightAt = (index: string, day: number): Night => ({
  index,
  night: new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString(),
  rows: 1000 + day,
  name: `${index}_1693050512123_${'x'.repeat(100)}`,
});

beforeAll(async () => {
  await new Promise<void>((resolve) => database.listen(0, '127.0.0.1', () => resolve()));
  const client = dynamoDbClient(config());
  await client.send(
    new CreateTableCommand({
      TableName: nightsTableName('prod'),
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['index', 'night'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
      KeySchema: [
        { AttributeName: 'index', KeyType: 'HASH' },
        { AttributeName: 'night', KeyType: 'RANGE' },
      ],
    }),
  );
  const nights = dynamoDbNights({ table: nightsTableName('prod'), client });
  for (const index of indices) for (let day = 0; day < 60; day++) await nights.write(nightAt(index, day));
});
afterAll(() => new Promise<void>((resolve) => database.close(() => resolve())));

/** A server that refuses requests the way AWS does. */
async function refusing(type: string): Promise<{ config: DynamoDBClientConfig; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(String(request.headers['x-amz-target']));
    request.resume().on('end', () => {
      response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ __type: `com.amazon.coral.service#${type}`, Message: 'no' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { config: configFor((server.address() as AddressInfo).port), asked };
}

describe("a stage's memory", () => {
  it('is read whole, oldest first, more than a run reads', async () => {
    const { memory, place } = await readDeployedMemory('prod', undefined, config());
    expect(place).toBe('datahub-retention-prod-nights (eu-central-1)');
    expect([...memory.keys()].sort()).toEqual([...indices].sort());
    expect(memory.get(indices[0]!)?.map(({ rows }) => rows)).toEqual(
      Array.from({ length: 60 }, (_, day) => 1000 + day),
    );
  });

  it('is read for one index alone', async () => {
    const { memory } = await readDeployedMemory('prod', indices[1], config());
    expect([...memory].map(([index, nights]) => [index, nights.length])).toEqual([[indices[1], 60]]);
  });

  it('is never written', async () => {
    const { config: refused, asked } = await refusing('ValidationException');
    for (const index of [undefined, 'x']) await readDeployedMemory('prod', index, refused).catch(() => {});
    expect(asked).toEqual(['DynamoDB_20120810.Scan', 'DynamoDB_20120810.Query']);
  });
});

describe('a memory that cannot be read', () => {
  it('because there is no such table says which stage, region and account to check', async () => {
    await expect(readDeployedMemory('staging', undefined, config())).rejects.toThrow(
      /datahub-retention-staging-nights.*no such table in eu-central-1.*AWS_REGION.*AWS_PROFILE/,
    );
  });

  it.each([
    ['AccessDeniedException', /need dynamodb:Query and dynamodb:Scan/],
    ['ExpiredTokenException', /refused the credentials \(ExpiredTokenException\)\. Sign in again/],
    ['UnrecognizedClientException', /refused the credentials/],
  ])('because of %s says what to do', async (type, expected) => {
    await expect(readDeployedMemory('prod', undefined, (await refusing(type)).config)).rejects.toThrow(expected);
  });

  it('because there are no credentials says how to get some', async () => {
    const credentials = async () => {
      throw Object.assign(new Error('Could not load credentials from any providers'), {
        name: 'CredentialsProviderError',
      });
    };
    await expect(readDeployedMemory('prod', undefined, { ...config(), credentials })).rejects.toThrow(
      /there are no AWS credentials\. Sign in \(aws sso login\), or set AWS_PROFILE\.$/,
    );
  });

  it('because no region is set says so', async () => {
    const region = async () => {
      throw new Error('Region is missing');
    };
    await expect(readDeployedMemory('prod', undefined, { ...config(), region })).rejects.toThrow(/no region is set/);
  });
});
