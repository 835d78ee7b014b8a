import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { dynamoDbClient, dynamoDbLedger } from '../../../lambda/aws/dynamodb.ts';
import { type Ledger, LedgerError } from '../../../lambda/ledger/ledger.ts';
import { anIdle, anIndex } from '../../support/records.ts';
import { rawServer, trickle } from '../gms/http/raw-server.ts';

/** What DynamoDB may answer: which answers are retried, and what each of them proves. */

const failing = (httpStatusCode: number, name = 'InternalServerError', message = 'it is busy') =>
  Object.assign(new Error(message), { name, $metadata: { httpStatusCode } });
const lost = Object.assign(new Error('socket hang up'), { name: 'TimeoutError' });
const taken = () => new ConditionalCheckFailedException({ message: 'no', $metadata: { httpStatusCode: 400 } });
const holding = (record: object) => ({ Item: { record: { S: JSON.stringify(record) } } });
const done = {};

/** Answers in order, the last one repeated forever; an error is thrown, a function is called. */
function ledgerThatMeets(...answers: unknown[]) {
  const sent: { name: string; input: Record<string, unknown> }[] = [];
  const pauses: number[] = [];
  const client = {
    async send(command: { input: Record<string, unknown> }) {
      const name = command instanceof GetItemCommand ? 'get' : command instanceof PutItemCommand ? 'put' : 'query';
      sent.push({ name, input: command.input });
      const next = answers.length > 1 ? answers.shift() : answers[0];
      const answer = typeof next === 'function' ? next() : next;
      if (answer instanceof Error || (answer as { fails?: object }).fails)
        throw (answer as { fails?: object }).fails ?? answer;
      return answer;
    },
  } as unknown as DynamoDBClient;
  const pause = async (millis: number) => pauses.push(millis);
  const ledger = dynamoDbLedger({ table: 'T', stage: 'prod', client, pause });
  return { ledger, sent, pauses, names: () => sent.map(({ name }) => name).join(' ') };
}

test('a damaged record takes the revision of its item, so that a release can write over it', async () => {
  for (const record of ['{"state":"idle"}', '{"state":"idle","revision":"x"}', '{"state', '5']) {
    const { ledger } = ledgerThatMeets({ Item: { record: { S: record }, revision: { N: '7' } } });
    expect(await ledger.read(anIndex)).toMatchObject({ state: 'unreadable', stored: { revision: 7 } });
  }
});

test('a listing whose pages do not end is refused', async () => {
  const { ledger } = ledgerThatMeets({ Items: [], LastEvaluatedKey: { index: { S: 'a' } } });
  await expect(ledger.list()).rejects.toThrow(/^Tried to list the ledger table T: after 20 pages there is/);
});

describe('a read', () => {
  test('is tried four times in all, with longer and longer pauses', async () => {
    const { ledger, names, pauses } = ledgerThatMeets(failing(500), failing(503), lost, holding(anIdle()));
    expect(await ledger.read(anIndex)).toEqual(anIdle());
    expect(names()).toBe('get get get get');
    expect(pauses).toEqual([100, 500, 2000]);
  });

  test('that never succeeds reports what was tried and what to do', async () => {
    const { ledger, names } = ledgerThatMeets(lost);
    const said = /^Tried to read dataset_operationaspect_v1 .* table T: TimeoutError: socket hang up; .*NAT gateway/;
    await expect(ledger.read(anIndex)).rejects.toThrow(said);
    expect(names()).toBe('get get get get');
  });

  test('that is refused reports a short reason', async () => {
    const { ledger } = ledgerThatMeets(failing(400, 'AccessDeniedException', 'x'.repeat(300)));
    await expect(ledger.read(anIndex)).rejects.toThrow(/AccessDeniedException: x{200}; (?!.*deploy)/);
    await expect(ledgerThatMeets({ fails: {} }).ledger.read(anIndex)).rejects.toThrow('table T: Error: ; functions');
  });

  test.each([
    ['InternalServerError', 500, 4, /the next run tries again/],
    ['InternalServerError', 499, 1, /deploy the stack again/],
    ['ThrottlingException', 400, 4, /takes no more requests for now/],
    ['ProvisionedThroughputExceededException', 400, 4, /takes no more requests for now/],
    ['RequestLimitExceeded', 400, 4, /takes no more requests for now/],
    ['AccessDeniedException', 400, 1, /a policy of the organization, .* denies it/],
    ['KMSAccessDeniedException', 400, 1, /denies it/],
    ['ResourceNotFoundException', 400, 1, /deploy the stack again/],
  ])('that meets %s (%i) is tried %i times, and says what helps', async (name, status, tries, remedy) => {
    const { ledger, sent } = ledgerThatMeets(failing(status, name));
    const error = (await ledger.read(anIndex).catch((thrown) => thrown)) as Error;
    expect(error).toBeInstanceOf(LedgerError);
    expect(error.message).toMatch(remedy);
    expect(error.message.includes('deploy')).toBe(remedy.source.includes('deploy'));
    expect(sent).toHaveLength(tries);
  });

  test.each([
    ['a status', { $metadata: { httpStatusCode: 400 } }, 1],
    ['nothing', {}, 4],
  ])('that fails with no more than %s is retried only if that may help', async (_, fails, tries) => {
    const { ledger, sent } = ledgerThatMeets({ fails });
    await expect(ledger.read(anIndex)).rejects.toThrow(LedgerError);
    expect(sent).toHaveLength(tries);
  });

  test.each<[string, (ledger: Ledger) => Promise<unknown>, number]>([
    ['read', (ledger) => ledger.read(anIndex), 4],
    ['list', (ledger) => ledger.list(), 4],
    // Each try is followed by a look whether it has arrived.
    ['write', (ledger) => ledger.replace(anIdle()), 5],
  ])('or a write whose answer trickles is given up: %s', async (_, act, tries) => {
    const server = await rawServer({ onRequest: (socket) => trickle(socket) });
    const region = { region: 'eu-central-1', credentials: { accessKeyId: 'none', secretAccessKey: 'none' } };
    const client = dynamoDbClient({ endpoint: server.url, ...region });
    const ledger = dynamoDbLedger({ table: 'T', stage: 'prod', client, callMillis: 100, pause: async () => {} });
    await expect(act(ledger)).rejects.toThrow(LedgerError);
    expect(server.connections).toBeLessThanOrEqual(tries);
  });

  test('is strongly consistent, of one record and of all', async () => {
    const { ledger, sent } = ledgerThatMeets({});
    await ledger.read(anIndex);
    expect(await ledger.list()).toEqual([]);
    expect(sent.map(({ input }) => input['ConsistentRead'])).toEqual([true, true]);
  });

  test('of all records that fails reports what was tried', async () => {
    await expect(ledgerThatMeets(failing(400)).ledger.list()).rejects.toThrow('Tried to list the records in');
  });

  test('of an item without a record blocks its index', async () => {
    const { ledger } = ledgerThatMeets({ Item: { index: { S: anIndex } } });
    expect(await ledger.read(anIndex)).toEqual({
      state: 'unreadable',
      index: anIndex,
      fields: ['all of it'],
      stored: {},
    });
  });
});

describe('a write', () => {
  const mine = anIdle();

  test('is conditional on the revision before it, and carries an ID that no other write has', async () => {
    const { ledger, sent } = ledgerThatMeets(done);
    expect(await ledger.replace(mine)).toBe(true);
    expect(await ledger.replace(anIdle({ revision: 8 }))).toBe(true);
    const [first, second] = sent.map(({ input }) => input);
    expect(first).toMatchObject({ ConditionExpression: 'attribute_not_exists(#revision)' });
    expect(first).not.toHaveProperty('ExpressionAttributeValues', expect.anything());
    expect(second).toMatchObject({
      ConditionExpression: '#revision = :revision',
      ExpressionAttributeNames: { '#revision': 'revision' },
      ExpressionAttributeValues: { ':revision': { N: '7' } },
      Item: { ledger: { S: 'prod' }, index: { S: anIndex }, revision: { N: '8' } },
    });
    const marks = sent.map(({ input }) => JSON.stringify((input['Item'] as { writeId: object }).writeId));
    expect(new Set(marks).size).toBe(2);
  });

  test('that never arrives is tried four times, each followed by a read', async () => {
    const nothing = {};
    const { ledger, names, pauses } = ledgerThatMeets(lost, nothing, lost, nothing, lost, nothing, lost, nothing);
    await expect(ledger.replace(mine)).rejects.toThrow(`Tried to write ${anIndex} in the ledger table T`);
    expect(names()).toBe('put get put get put get put get');
    expect(pauses).toEqual([100, 500, 2000]);
  });

  test('that is refused is not retried, and nothing is read', async () => {
    const { ledger, names } = ledgerThatMeets(failing(400, 'AccessDeniedException'), done);
    await expect(ledger.replace(mine)).rejects.toThrow(`Tried to write ${anIndex}`);
    expect(names()).toBe('put');
  });

  test('that fails because its first try arrived late is ours', async () => {
    const { ledger, names, sent } = ledgerThatMeets(lost, {}, taken(), () => ({ Item: sent[0]?.input['Item'] }));
    expect(await ledger.replace(mine)).toBe(true);
    expect(names()).toBe('put get put get');
  });

  test('that something on the way has repeated is ours', async () => {
    const { ledger, sent } = ledgerThatMeets(taken(), () => ({ Item: sent[0]?.input['Item'] }));
    expect(await ledger.replace(mine)).toBe(true);
  });

  test.each([
    ['no record', { Item: { index: { S: anIndex } } }],
    ['the same record with the ID of another write', { ...holding(mine), writeId: { S: 'other' } }],
  ])('whose answer was lost is not ours if the stored item is %s', async (_, stored) => {
    const { ledger } = ledgerThatMeets(lost, stored, taken(), stored);
    expect(await ledger.replace(mine)).toBe(false);
  });
});

test('the client times out early enough for several tries, and does not retry by itself', async () => {
  const client = dynamoDbClient({ endpoint: 'http://127.0.0.1:9', region: 'eu-central-1' });
  expect(await client.config.maxAttempts()).toBe(1);
  const handler = client.config.requestHandler as unknown as Record<
    'handle' | 'httpHandlerConfigs',
    (request?: object) => unknown
  >;
  // It is decided with the first request.
  await Promise.resolve(handler.handle({})).catch(() => {});
  expect(handler.httpHandlerConfigs()).toMatchObject({
    connectionTimeout: 3000,
    requestTimeout: 5000,
    throwOnRequestTimeout: true,
  });
});
