import { describe, expect, it } from 'vitest';
import { renderPage } from '../../../cli/pages/render.ts';
import { surveyPage } from '../../../cli/pages/survey-page.ts';
import type { Age, IndexCounts, Survey, SurveyedIndex } from '../../../cli/survey/count.ts';

const now = Date.UTC(2026, 10, 21);
const counted = (rowsTotal: number, older: Partial<Record<Age, number>> = {}): IndexCounts => ({
  kind: 'counted',
  rowsTotal,
  older: { 30: 0, 90: 0, 180: 0, 365: 0, ...older },
  ignoresForce: false,
});
const index = (counts: IndexCounts, more: Partial<SurveyedIndex> = {}): SurveyedIndex => ({
  entityType: 'dataset',
  aspect: 'operation',
  protected: false,
  indexName: 'dataset_operationaspect_v1',
  counts,
  ...more,
});
const pageOf = (indices: SurveyedIndex[], more: Partial<Survey> = {}) =>
  surveyPage({ survey: { indices, unnamed: [], ...more }, checks: [], server: 'http://gms:8080', now });
const partsOf = (one: SurveyedIndex) => pageOf([one]).indices[0]!.bar!.parts.map(({ fate, rows }) => [fate, rows]);

describe('the page of a survey', () => {
  it('cuts each index where a policy to begin with would', () => {
    const [picture] = pageOf([index(counted(1000, { 30: 900, 90: 500, 180: 200 }))]).indices;
    expect(picture).toMatchObject({
      bar: { cutDays: 180, threshold: 10 },
      sentence: expect.stringMatching(/^Suggested: 180 days/),
    });
    expect(picture!.bar!.parts.find(({ rows }) => rows > 0)).toEqual({ fate: 'goes', rows: 200, from: 180, to: 365 });
  });

  it('shows indices that are not worth a policy as kept', () => {
    expect(partsOf(index(counted(1000, { 30: 900, 90: 60, 180: 20, 365: 5 })))[0]).toEqual(['overdue', 5]);
  });

  it('shows how much of a first night a bite takes', () => {
    const large = index(counted(40_000_000, { 30: 30_000_000, 90: 24_000_000, 180: 20_000_000, 365: 12_000_000 }));
    expect(partsOf(large).slice(0, 2)).toEqual([
      ['goes', 5_000_000],
      ['later', 7_000_000],
    ]);
  });

  it('says what would be freed, by the share of the rows, and where the rows of table and tiles differ', () => {
    const page = pageOf([
      index(counted(1000, { 30: 900, 90: 500, 180: 200 }), { sizeMb: 50 }),
      index(counted(1000, { 30: 900, 90: 60, 180: 20, 365: 5 }), { aspect: 'datasetProfile', sizeMb: 70 }),
      index(counted(1000, { 30: 900, 90: 500, 180: 200 }), { aspect: 'unknownSize' }),
    ]);
    expect(page.indices.map(({ bar }) => bar?.freedMb)).toEqual([10, 0, undefined]);
    expect(page.totals).toContainEqual({ term: 'would be freed, estimated', text: '10.0 MB' });
    expect(page.totals).toContainEqual({ term: 'would go, with the policies below (13.3 %)', text: '400' });
    expect(page.totals).toContainEqual({ term: 'past retention, not worth it yet', text: '5' });
    const html = renderPage(page);
    expect(html).toContain('<th scope="col">Would free</th>');
    expect(html).toMatch(/<b>200<\/b> would go \(20\.0 %\), about 10\.0 MB<\/span>/);
    expect(html).toContain('Disk space is estimated');
  });

  it('puts an index first that may have lost its rows, with the request that finds them', () => {
    const made = { at: now - 86_400_000, rowsBefore: 0, rowsSoonAfter: 10 };
    const lost = index({ ...counted(10), made } as IndexCounts, {
      indexName: 'dataset_operationaspect_v1_1795000000000',
    });
    const { attention, indices, severity } = pageOf([lost]);
    expect(severity).toBe('failed');
    expect(attention[0]).toMatchObject({
      title: 'May have lost rows: dataset.operation',
      instructions: [{ line: expect.stringMatching(/^GET \/_cat\/indices\/dataset_operationaspect_v1\*/) }],
      next: { text: expect.stringContaining('truncate nothing') },
    });
    expect(indices[0]!.badge).toEqual({ text: 'may have lost rows', severity: 'failed' });
  });

  it('names indices that could not be counted, once for each reason', () => {
    const failed: IndexCounts = { kind: 'failed', error: { kind: 'timeout', operation: 'dry-run' } };
    const { attention } = pageOf([index(failed), index(failed, { aspect: 'datasetProfile' })]);
    expect(attention.map(({ title }) => title)).toEqual(['Not counted: dataset.operation, dataset.datasetProfile']);
  });

  it('shows checks that are not well, with their remedies', () => {
    const checks = [{ name: 'Token', state: 'note', cause: { kind: 'token', expiresAt: now + 86_400_000 } }] as const;
    const { attention } = surveyPage({
      survey: { indices: [], unnamed: [] },
      checks: checks as never,
      server: 's',
      now,
    });
    expect(attention[0]).toMatchObject({
      severity: 'note',
      title: 'Token',
      next: { text: expect.stringMatching(/\.$/) },
    });
  });
});
