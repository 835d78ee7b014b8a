import { describe, expect, test } from 'vitest';
import { type Operations, OperationsError, type TruncateFields } from '../../../../lambda/gms/operations.ts';
import type { EngineKind, ServerErrorKind } from '../../../../lambda/model/server-error.ts';
import { PlanRequests } from '../../../../lambda/run/plan/requests.ts';
import { systemClock } from '../../../../lambda/truncation/clock.ts';
import { truncateFields } from '../../../../lambda/truncation/counts.ts';
import { aPolicy } from '../../../support/policies.ts';

/** What a run learns from its first requests (rule 1); deciding/field-refused.txt shows how the field is refused. */

const clock = { ...systemClock, now: () => 0 };

type Answer = 'count' | number | ServerErrorKind;

/** A server that answers requests with and without the field in this way; the last answer is repeated. */
function server(withField: Answer[], withoutField: Answer[] = ['count']) {
  const asked: string[] = [];
  const operations = {
    async dryRun({ forceDeleteByQuery }: TruncateFields) {
      asked.push(forceDeleteByQuery ? 'with' : 'without');
      const answers = forceDeleteByQuery ? withField : withoutField;
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer === 'count')
        return { rowsToDelete: 6, rowsTotal: 10, method: forceDeleteByQuery === true ? 'delete' : 'reindex' };
      const fact =
        typeof answer === 'number'
          ? ({ kind: 'bad-request', status: answer } as const)
          : ({ kind: answer as ServerErrorKind, status: 200 } as const);
      throw new OperationsError({ operation: 'dry-run', ...fact });
    },
  } as unknown as Operations;
  const requests = new PlanRequests({ operations, clock, deadline: () => 900_000 }, new AbortController().signal);
  const first = async () => {
    const answered = await requests.firstDryRun(truncateFields(aPolicy(), 5, false)).catch(() => undefined);
    return { asked: asked.join(' '), refuses: requests.refusesForceField, isAnswered: answered !== undefined };
  };
  return { requests, first };
}

test('the field is not judged, if the second try fails in another way', async () => {
  const expected = { asked: 'with without with', refuses: undefined, isAnswered: false };
  expect(await server([400, 500]).first()).toEqual(expected);
});

test.each([401, 403, 404, 429, 500, 503])('the field is not judged by a %d', async (status) => {
  expect(await server([status]).first()).toEqual({ asked: 'with', refuses: undefined, isAnswered: false });
});

describe('the server is not asked any more', () => {
  test.each<ServerErrorKind>(['dns', 'connect', 'tls', 'unauthorized', 'token', 'timeout'])(
    'after a first failure of kind %s',
    async (kind) => {
      const { requests, first } = server([kind]);
      await first();
      expect(requests.serverFailure?.kind).toBe(kind);
    },
  );

  test.each<ServerErrorKind>(['server-error', 'no-index', 'unreadable', 'throttled'])(
    'but not after %s',
    async (kind) => {
      const { requests, first } = server([kind], [kind]);
      await first();
      expect(requests.serverFailure).toBeUndefined();
    },
  );
});

describe('task statuses', () => {
  const refusal = async (status: number | 'vanished' | undefined, engine?: EngineKind) => {
    let asked = 0;
    const operations = {
      async taskStatus() {
        asked++;
        if (status === 'vanished') return { kind: 'vanished' };
        throw new OperationsError({ kind: 'bad-request', operation: 'task-status', status, engine });
      },
    } as unknown as Operations;
    const requests = new PlanRequests({ operations, clock, deadline: () => 900_000 }, new AbortController().signal);
    await requests.taskStatusRefusal();
    return [(await requests.taskStatusRefusal()) !== undefined, asked];
  };

  test.each<[number | 'vanished' | undefined, EngineKind | undefined, boolean]>([
    [401, undefined, true],
    [403, undefined, true],
    // A refusal of the search engine, inside a 500 of DataHub.
    [500, 'permission', true],
    // No answer at all.
    [undefined, undefined, true],
    [404, undefined, false],
    [500, undefined, false],
    [500, 'memory', false],
    ['vanished', undefined, false],
  ])('that are answered with %s (%s): refused %s, asked once', async (answer, engine, refused) => {
    expect(await refusal(answer, engine)).toEqual([refused, 1]);
  });
});
