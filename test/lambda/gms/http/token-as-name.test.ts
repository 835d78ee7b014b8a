import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createOperations } from '../../../../lambda/gms/http/http-operations.ts';
import { asResult, type Operations } from '../../../../lambda/gms/operations.ts';
import { repeatsSecret } from '../../../../lambda/gms/secrets.ts';
import type { HttpResponse } from '../../../../lambda/gms/transport.ts';
import { holdsInTime } from '../../../properties.ts';
import { against, fixed, operation, token } from './broken-server.ts';
import { http } from './raw-server.ts';

/** A server that answers with the token that it got, in place of a name, an id, or anything else. */

const sizes = {
  indexName: 'dataset_operationaspect_v1',
  entityName: 'dataset',
  aspectName: 'operation',
  sizeInMb: '1',
};
const status = { total: 1, deleted: '1', canceled: 'by' };
/** For each request of the interface, an answer with every field that is read. */
const answers: Array<[(operations: Operations) => Promise<unknown>, unknown]> = [
  [(operations) => operations.truncate(operation, () => true), { value: 'node:5' }],
  [(operations) => asResult(() => operations.indexSizes()), { value: { indexSizes: [sizes, sizes] } }],
  [
    (operations) => asResult(() => operations.taskStatus('node:5')),
    { value: { completed: 'true', runTimeNanos: '5', status, error: null } },
  ],
  [(operations) => asResult(() => operations.dryRun(operation)), { value: 'Delete 1 out of 2 rows.' }],
];

/** One value of a JSON value is replaced, the whole of it included. */
const placesIn = (value: unknown): Array<(by: string) => unknown> => [
  (by) => by,
  (by) => (typeof value === 'string' ? value.replace(/\w+/, by) : by),
  ...(typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) =>
        placesIn(inner).map((put) => (by: string) => {
          const changed = { ...value, [key]: put(by) };
          return Array.isArray(value) ? Object.values(changed) : changed;
        }),
      )
    : []),
];

const forms: Array<(secret: string) => string> = [
  (secret) => secret,
  (secret) => secret.toLowerCase(),
  (secret) => `${secret}:1`,
  (secret) => secret.replaceAll('.', '_'),
  (secret) => `${secret.slice(3, 40)}_operationaspect_v1`,
  (secret) => Buffer.from(secret).toString('hex'),
  (secret) => Buffer.from(secret).toString('base64url'),
];

test('The token is nowhere in what is read, whatever field of whatever answer repeats it', async () => {
  const isShown = repeatsSecret([token]);
  const answered = fc
    .constantFrom(...answers)
    .chain(([ask, answer]) => fc.tuple(fc.constant(ask), fc.constantFrom(...placesIn(answer))));
  const wire = fc.tuple(fc.constantFrom(200, 200, 202, 302, 401, 500), fc.constantFrom('value', 'string', 'twice'));
  await holdsInTime(
    fc.asyncProperty(answered, fc.constantFrom(...forms), wire, async ([ask, put], form, [code, nested]) => {
      const json = JSON.stringify(put(form(token)));
      const body =
        nested === 'value' ? json : JSON.stringify({ value: nested === 'twice' ? JSON.stringify(json) : json });
      const headers = { 'content-type': form(token), location: form(token), 'content-encoding': '', date: form(token) };
      const answer: HttpResponse = { status: code, headers, dates: [form(token)], body, complete: true };
      const transport = { post: async () => answer, postAtMostOnce: async () => answer };
      const operations = createOperations({
        baseUrl: 'http://h',
        identity: fixed(token),
        transport,
        sleep: async () => {},
      });
      expect(isShown(JSON.stringify(await ask(operations)))).toBe(false);
    }),
    1000,
  );
});

test('A task id and an index that have the name of the token are none', async () => {
  const { operations } = await against([http(200, JSON.stringify({ value: `${token}:1` }))]);
  expect(await operations.truncate(operation, () => true)).toMatchObject({
    kind: 'unresolved',
    error: { kind: 'no-task-id' },
  });
  const [half, rest] = [token.slice(0, 11), token.slice(11, 22)];
  const divided = { indexName: 'x_yaspect_v1', entityName: half, aspectName: rest };
  const listed = [{ ...sizes, indexName: `${token.toLowerCase()}_xaspect_v1` }, sizes, divided];
  const other = await against([http(200, JSON.stringify({ value: { indexSizes: listed } }))]);
  expect(await other.operations.indexSizes()).toMatchObject([{ indexName: sizes.indexName }]);
});
