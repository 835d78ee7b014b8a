import { probeForceField } from '../../lambda/gms/force-field.ts';
import { serverAddress } from '../../lambda/gms/http/base-url.ts';
import type { Operations } from '../../lambda/gms/operations.ts';
import { redactor } from '../../lambda/gms/secrets.ts';
import type { HttpResponse } from '../../lambda/gms/transport.ts';
import { LedgerError } from '../../lambda/ledger/ledger.ts';
import { addressElsewhere, ownership } from '../../lambda/ledger/ownership.ts';
import type { StoredRecord } from '../../lambda/ledger/record.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import type { DryRunner } from '../../lambda/truncation/counts.ts';
import type { Findings } from '../events/findings.ts';
import { UsageError } from '../events/mistakes.ts';
import type { RunListener } from '../events/run-listener.ts';
import type { Server } from '../inputs/server.ts';
import { checkServer, type ServerAccess } from './checks.ts';
import { countIndices } from './count.ts';
import { damageLines, isDamaged } from './damage.ts';
import { findGms } from './find-gms.ts';
import { hints, ownTruncations } from './hints.ts';
import { firstRunGain, notSuggested, suggest } from './suggestion.ts';
import { versionIn, versionRemark } from './version.ts';

/** Fewer attempts per read than in a run: someone is watching and can start again. */
export const surveyAttempts = { failed: 2, timedOut: 1 };

/**
 * Surveys a server, read-only, and reports what it found.
 * @param records this job's own ledger
 * @returns undefined if nothing can be counted there
 */
export async function surveyServer(
  server: Server,
  { page, ...ways }: ServerAccess & { page(url: string): Promise<HttpResponse | undefined> },
  records: () => Promise<StoredRecord[]>,
  output: RunListener,
): Promise<Findings | undefined> {
  const { baseUrl, secrets } = server;
  const now = Date.now();
  const { dryRun, refusesForceField } = dryRunsOf(ways.operations);
  const { checks, sizes, taskStatusError, canCount } = await checkServer(server, ways, dryRun, now);
  const wrong = checks.find(({ name, state }) => name === 'Address' && state === 'failed');
  const there = wrong && (await findGms(baseUrl, page));
  if (there) wrong.remedy = `DataHub's API answers at ${there}: give that address.`;
  output.checks(checks);
  if (!canCount) return undefined;
  const all = await recordsOf(records);
  // Another server's truncations say nothing about this one.
  const here = all.filter((record) => addressElsewhere(record, { server: serverAddress(baseUrl) }) === undefined);
  const own = ownTruncations(here);
  const survey = await countIndices(dryRun, sizes, own, now, output.counted);
  // The version is asked for without the token, but the server knows it and may repeat it.
  const config = (await page(`${baseUrl}/config`))?.body ?? '';
  const version = versionIn(redactor(secrets())(config));
  const taken = all.filter((record) => ownership(record, { runId: '', runStartMillis: now }).kind !== 'free');
  const held = new Set(taken.map(({ index }) => index));
  const suggestions = suggest(survey, own, { now, version, held, taskStatusError });
  const findings: Findings = {
    survey,
    checks,
    damage: damageLines(survey, now),
    damaged: survey.indices.filter((index) => isDamaged(index, now)).map(dottedName),
    hints: [
      ...hints(survey, own, refusesForceField()),
      ...notSuggested(survey, suggestions),
      ...versionRemark(version),
    ],
    suggestions,
    gain: firstRunGain(survey, suggestions),
    now,
  };
  output.survey(findings);
  return findings;
}

/**
 * The dry runs of one survey: with the field forceDeleteByQuery until it is known that the server refuses it, as in a
 * run (rule 1).
 */
function dryRunsOf(operations: Operations): { dryRun: DryRunner; refusesForceField(): boolean } {
  const ask: DryRunner = (fields) => operations.dryRun(fields);
  let isRefused: boolean | undefined;
  return {
    async dryRun(fields) {
      if (isRefused !== undefined) return ask({ ...fields, forceDeleteByQuery: isRefused ? undefined : true });
      const found = await probeForceField(ask, { ...fields, forceDeleteByQuery: true });
      isRefused = found.isRefused;
      return found.dryRun;
    },
    refusesForceField: () => isRefused ?? false,
  };
}

export const isFine = ({ checks, survey: { stopped, indices } }: Findings): boolean =>
  stopped === undefined &&
  checks.every(({ state }) => state !== 'failed') &&
  indices.every(({ counts }) => counts.kind !== 'failed');

/** A survey needs no ledger; a ledger that cannot be read counts as empty. */
async function recordsOf(records: () => Promise<StoredRecord[]>): Promise<StoredRecord[]> {
  try {
    return await records();
  } catch (error) {
    // Where there is no home folder, there is no ledger either.
    if (error instanceof LedgerError || error instanceof UsageError) return [];
    throw error;
  }
}
