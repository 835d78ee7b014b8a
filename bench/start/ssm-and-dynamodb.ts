import { DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { handler as readParameters } from './ssm-only.ts';

/** What the ledger adds to a function that reads parameters: the two clients share most of the SDK. */
const client = new DynamoDBClient();

export const handler = async () => [readParameters, client, GetItemCommand, PutItemCommand, QueryCommand];
