import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { indexHistoryQuery } from '../../../infra/monitoring/queries.ts';
import { runLog } from '../../../lambda/aws/log.ts';

let written: string[];

beforeEach(() => {
  written = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
  }
});
afterEach(() => vi.restoreAllMocks());

const options = { stage: 'prod', runId: 'nightly-1', step: 'plan', requestId: 'r-1', coldStart: true } as const;
const lines = (): Array<Record<string, unknown>> => written.map((line) => JSON.parse(line));

const withheld = 'This text repeated a secret and is withheld.';

describe('the log of an invocation', () => {
  it('writes one JSON line per decision, with run, step, index, outcome and cause', () => {
    const cause = { kind: 'not-due', minDeletePercent: 10 };
    runLog(options).info('planned', { index: 'dataset.operation', outcome: 'below-threshold', cause });
    expect(lines()).toEqual([
      expect.objectContaining({
        level: 'INFO',
        message: 'planned',
        stage: 'prod',
        runId: 'nightly-1',
        step: 'plan',
        function_request_id: 'r-1',
        cold_start: true,
        index: 'dataset.operation',
        outcome: 'below-threshold',
        cause,
      }),
    ]);
  });

  it('has the id of the trace, where there is one', () => {
    vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1');
    runLog(options).info('planned');
    vi.unstubAllEnvs();
    expect(lines()).toMatchObject([{ xray_trace_id: '1-5759e988-bd862e3fe1be46a994272793' }]);
  });

  it('begins at the level that the stage asks for', () => {
    vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'WARN');
    const log = runLog(options);
    vi.unstubAllEnvs();
    log.info('planned');
    log.warn('careful');
    log.error('broken');
    expect(lines().map(({ level }) => level)).toEqual(['WARN', 'ERROR']);
  });

  it('never contains a known token, in any field', () => {
    const log = runLog(options);
    log.addRedaction('hush-hush-4242');
    log.info('with hush-hush-4242', {
      text: 'Bearer hush-hush-4242',
      nested: { list: ['hush-hush-4242'] },
      error: new Error('hush-hush-4242 was refused'),
    });
    expect(written.join()).not.toContain('hush-hush-4242');
    expect(lines()[0]).toMatchObject({ message: withheld, error: withheld });
  });

  it('still withholds an earlier token when another one is read', () => {
    const log = runLog(options);
    log.addRedaction('the-first-token');
    log.addRedaction('the-second-token');
    log.info('the-first-token');
    log.info('the-second-token');
    expect(lines().map(({ message }) => message)).toEqual([withheld, withheld]);
  });

  it("leaves out a server's stack trace, and our own", () => {
    const log = runLog(options);
    log.error('failed', {
      text: 'Async reindex failed\n\tat com.linkedin.metadata.restli.RestliUtil.badRequest(RestliUtil.java:84)\n\tat x',
      error: new TypeError('no such thing'),
    });
    expect(written.join()).not.toMatch(/\bat (com\.|x|file|Object)/);
    expect(lines()[0]).toMatchObject({ text: 'Async reindex failed', error: 'TypeError: no such thing' });
  });

  it('has the fields that the saved query asks for', () => {
    runLog(options).info('planned', {
      index: 'dataset_operationaspect_v1',
      phase: 'done',
      outcome: 'truncated',
      cause: { kind: 'verified' },
      rowsToDelete: 1,
      rowsTotal: 2,
      rowsDeleted: 1,
      taskId: 'n:1',
    });
    const asked = /^fields (.*)$/m.exec(indexHistoryQuery.text)?.[1]?.split(', ') ?? [];
    const [line] = lines();
    expect(asked.filter((field) => field !== '@timestamp' && !(field.split('.')[0]! in line!))).toEqual([]);
    expect(indexHistoryQuery.text).toContain("| filter index = 'dataset_operationaspect_v1'");
  });
});
