import { expect, test } from 'vitest';
import { clockSkew } from '../../../../lambda/operations/http/http-operations.ts';
import { against, operation } from './broken-server.ts';
import { http } from './raw-server.ts';

/** How far the server's clock differs from ours. */

const now = Date.parse('2026-11-20T12:00:00Z');
const wrong = new Date(now + 3_600_000).toUTCString();

test('of two Date headers the one farther from our clock counts', async () => {
  expect(clockSkew(`${new Date(now).toUTCString()}, ${wrong}`, now)).toBe(3_600_000);
  const value = 'Delete 1 out of 2 rows (50.00%). Issuing a delete by query request. This was a dry run.';
  const { operations } = await against([
    (socket) =>
      socket.write(
        http(200, JSON.stringify({ value })).replace(
          '\r\n\r\n',
          `\r\nDate: ${new Date(now).toUTCString()}\r\nDate: ${wrong}\r\n\r\n`,
        ),
      ),
  ]);
  expect((await operations.dryRun(operation)).clockSkewMillis).toBe(3_600_000);
});
