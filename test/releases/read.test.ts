import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readPolicies } from '../../cli/inputs/policies.ts';
import { parseRecord, storable } from '../../lambda/ledger/record.ts';
import { parseRuns, withRun } from '../../lambda/ledger/runs.ts';
import { type Report, reportSchema } from '../../lambda/model/report-schema.ts';
import { parsePolicies } from '../../lambda/policy/parse.ts';
import { mail } from '../../lambda/report/destinations/mail.ts';
import { messageOf } from '../../lambda/report/message.ts';
import { withSentences } from '../../lambda/report/sentences/sentences.ts';
import { composeReport, stateOf } from '../../lambda/run/report.ts';
import type { RunState } from '../../lambda/run/state.ts';
import { readStageText } from '../../lambda/settings/settings.ts';
import { aws, entryCases, noteCases } from '../lambda/report/cases.ts';
import { aRecordOfEachState } from '../support/records.ts';
import { anEntry, aReport } from '../support/reports.ts';

/** What released versions have written is read today, and what is written today is read by them (README.md here). */

const releases = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

describe.each(releases)('Version %s', (release) => {
  const at = (name: string) => join(import.meta.dirname, release, name);
  const text = (name: string) => readFileSync(at(name), 'utf8');
  const kept = (name: string) => JSON.parse(text(name));

  test('has records that are read whole, and written back as they were', () => {
    for (const stored of kept('records.json')) {
      const record = parseRecord(stored.index, stored);
      expect(record).not.toMatchObject({ state: 'unreadable' });
      // An outcome that this version does not know would be read as unknown.
      expect(JSON.stringify(record)).not.toContain('ofLaterVersion');
      expect(JSON.parse(JSON.stringify(storable(record)))).toEqual(stored);
    }
  });

  test('has runs in short that are read', () => {
    const { runs } = kept('runs.json');
    expect(parseRuns(text('runs.json'))).toEqual(runs);
  });

  test('has run states that are reported', () => {
    const settings = { gmsUrl: 'https://datahub.example.com', stage: 'prod', mode: 'enforce' } as const;
    const execution = { name: 'run-1', startTime: '2026-08-14T03:30:00.000Z' };
    for (const state of kept('states.json') as RunState[]) {
      const services = {
        settings: { ...settings, minRetentionDays: 7, maxRunHours: 12 },
        clock: { now: () => state.runStartMillis },
        addSentences: (data: Parameters<typeof withSentences>[0]) => withSentences(data, aws),
      };
      expect(
        reportSchema.safeParse(composeReport(stateOf({ input: state, execution }, services.settings), services)).error,
      ).toBeUndefined();
    }
  });

  test('has reports that become messages', () => {
    for (const report of kept('reports.json') as Report[]) {
      expect(reportSchema.safeParse(report).error).toBeUndefined();
      expect(mail.render(messageOf(report, { audience: aws }))).toContain(report.runId);
    }
  });

  test('has a stage file, values and policies that are taken as they are', () => {
    expect(readStageText('example', text('stage.json')).settings.stage).toBe('example');
    expect(readPolicies(at('values.yaml')).names.length).toBeGreaterThan(0);
    const parsed = parsePolicies([{ name: 'policies', list: kept('policies.json') }], 7);
    expect(parsed.filter(({ kind }) => kind !== 'policy')).toEqual([]);
  });

  test('reads what is written today', async () => {
    const reader = await import(at('reader.mjs'));
    const today = [...aRecordOfEachState().map(storable), ...kept('records.json')];
    for (const stored of today) {
      const written = JSON.parse(JSON.stringify(stored));
      expect(reader.parseRecord(written.index, written)).not.toMatchObject({ state: 'unreadable' });
    }
    const run = { runId: 'run-9', finishedAt: '2026-08-14T03:30:00.000Z', result: 'ok', indices: [] };
    expect(reader.parseRuns(withRun(text('runs.json'), run))[0]).toMatchObject({ runId: 'run-9' });
    const report = aReport(
      entryCases.map(([, outcome, cause, more]) => anEntry(outcome, cause, more)),
      { notes: noteCases.map(([, note]) => note) },
    );
    expect(reader.reportSchema.safeParse(report).error).toBeUndefined();
  });
});
