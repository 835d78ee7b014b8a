import {
  type AttributeValue,
  DynamoDBClient,
  type DynamoDBClientConfig,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { nightsTableName } from '../../infra/stage/table-names.ts';
import { nightOf } from '../../lambda/memory/dynamodb.ts';
import type { Night } from '../../lambda/memory/night.ts';
import { type Memory, memoryOf } from './memory.ts';

/** The memory of a deployed stage, read with the caller's credentials and region; nothing is written. */

/** The memory could not be read; `message` says why and what to do. */
export class DeployedMemoryError extends Error {
  override readonly name = 'DeployedMemoryError';
}

export interface DeployedMemory {
  /** The table and its region, for people. */
  place: string;
  memory: Memory;
}

/**
 * @param index the search index to read; all of them if omitted
 * @throws DeployedMemoryError
 */
export async function readDeployedMemory(
  stage: string,
  index?: string,
  config: DynamoDBClientConfig = {},
): Promise<DeployedMemory> {
  const table = nightsTableName(stage);
  const requestHandler = { connectionTimeout: 5000, requestTimeout: 15_000, throwOnRequestTimeout: true };
  const client = new DynamoDBClient({ requestHandler, ...config });
  let region = '';
  try {
    region = await client.config.region();
    const nights: Night[] = [];
    let from: Record<string, AttributeValue> | undefined;
    do {
      const page = { TableName: table, ...(from && { ExclusiveStartKey: from }) };
      const { Items = [], LastEvaluatedKey } = await client.send(
        index === undefined ? new ScanCommand(page) : new QueryCommand({ ...page, ...only(index) }),
      );
      nights.push(...Items.flatMap(nightOf));
      from = LastEvaluatedKey;
    } while (from);
    return { place: `${table} (${region})`, memory: memoryOf(nights) };
  } catch (error) {
    throw new DeployedMemoryError(whyNot(error, table, region));
  } finally {
    client.destroy();
  }
}

const only = (index: string) => ({
  KeyConditionExpression: '#index = :index',
  ExpressionAttributeNames: { '#index': 'index' },
  ExpressionAttributeValues: { ':index': { S: index } },
});

function whyNot(error: unknown, table: string, region: string): string {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  const head = `The memory of nights, ${table}, cannot be read`;
  if (/region is missing/i.test(message)) {
    return `${head}: no region is set. Set AWS_REGION, or AWS_PROFILE to a profile that has one.`;
  }
  switch (name) {
    case 'CredentialsProviderError':
      return `${head}: there are no AWS credentials. Sign in (aws sso login), or set AWS_PROFILE.`;
    case 'ExpiredTokenException':
    case 'UnrecognizedClientException':
    case 'InvalidSignatureException':
      return `${head}: AWS refused the credentials (${name}). Sign in again, or set another AWS_PROFILE.`;
    case 'AccessDeniedException':
      return `${head}: these credentials do not permit it. They need dynamodb:Query and dynamodb:Scan on this table.`;
    case 'ResourceNotFoundException':
      return `${head}: there is no such table in ${region}. Check the stage's name, the region (AWS_REGION) and the account (AWS_PROFILE).`;
    default:
      return `${head} in ${region}: ${name}: ${message.slice(0, 300)}`;
  }
}
