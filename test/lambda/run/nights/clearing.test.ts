import { describe, expect, test } from 'vitest';
import { serverAddress } from '../../../../lambda/operations/http/base-url.ts';
import { anIndexOf, deployments, firstNight } from '../../../support/deployment.ts';
import { anAttempt, anIndex, aReserved, aSending, aSentAttempt } from '../../../support/records.ts';
import { day, entryOf, hour, name, operation } from './nights.ts';

/** Nights on which a person clears a record. */

const started = deployments();
const anyShare = { ...operation, minDeletePercent: 0 };

describe('clearing', () => {
  test('a call that did nothing counts its windows strictly, and reports rows that are gone', async () => {
    const deployment = await started({ indices: [anIndexOf(600, 10_000)], policies: [anyShare] });
    deployment.service.engine.onRequest = ({ body }) =>
      body.includes('"dryRun":false') ? { kind: 'fail-before', answer: { kind: 'status', status: 504 } } : undefined;
    deployment.settings.maxRunHours = 0.2;
    await deployment.night();
    let gone = 190;
    deployment.service.engine.removeRows(
      name,
      ({ timestamp }) => timestamp > deployment.clock.time - 20 * day && gone-- > 0,
    );
    deployment.settings.maxRunHours = 12;
    deployment.clock.time += day;
    const report = await deployment.night({ clear: [name] });
    expect(report.notes).toMatchObject([{ kind: 'not-released', why: 'rows-missing', rowsMissing: 190 }]);
    const accepted = await deployment.night({ clear: [name], acceptMissing: 190 });
    expect(accepted.notes).toMatchObject([{ kind: 'released', rowsMissing: 190 }]);
  });
});

test('a record with times far in the future is left alone until a person clears it', async () => {
  const deployment = await started();
  const server = serverAddress(deployment.settings.gmsUrl);
  const ahead = firstNight + 400 * day;
  const times = { runStartMillis: ahead, reservedAt: ahead, sendBy: ahead + 450_000, sendingSince: ahead };
  const attempt = aSentAttempt({ ...times, runId: 'ahead' });
  deployment.ledger.stored.set(
    anIndex,
    aSending({
      server,
      judgeableAt: ahead + 10 ** 6,
      windows: [],
      attempt: { ...attempt, baseline: { rowsTotal: 1000, rowsToDelete: 600 } },
    }),
  );
  const cause = { kind: 'foreign', why: 'clock', until: ahead + 10 ** 6 };
  expect(entryOf(await deployment.night())).toMatchObject({ outcome: 'in-flight', cause });
  expect((await deployment.night({ clear: [name] })).notes).toMatchObject([
    { kind: 'not-released', index: name, why: 'unresolved' },
  ]);
  const accepted = await deployment.night({ clear: [name], acceptMissing: 1 });
  expect(accepted.notes).toMatchObject([{ kind: 'released', uncounted: true }]);
  expect(entryOf(await deployment.night()).outcome).toBe('truncated');
});

test('a reservation with a sendBy in the far future is left alone until a person clears it', async () => {
  const deployment = await started();
  const server = serverAddress(deployment.settings.gmsUrl);
  const attempt = anAttempt({ runId: 'odd', runStartMillis: firstNight - hour, sendBy: firstNight + 400 * day });
  deployment.ledger.stored.set(anIndex, aReserved({ server, attempt }));
  expect(entryOf(await deployment.night())).toMatchObject({ cause: { kind: 'foreign', why: 'clock' } });
  await deployment.night({ clear: [name], acceptMissing: 1 });
  expect(entryOf(await deployment.night()).outcome).toBe('truncated');
});
