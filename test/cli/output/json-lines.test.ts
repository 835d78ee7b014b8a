import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseArguments, type ServerRunArguments, type SurveyArguments } from '../../../cli/command-line/arguments.ts';
import { execute } from '../../../cli/execute.ts';
import { sampleIndices } from '../../../cli/operations-service/samples.ts';
import { type EventName, eventSchema, events } from '../../../cli/output/events.ts';
import { jsonLines } from '../../../cli/output/json-lines.ts';
import { type ServiceOptions, startOperationsService } from '../../operations-service/server.ts';
import { folder } from '../processes.ts';

type Line = Record<string, unknown> & { event: EventName };

/** Every line of a run or a survey; checks that each is valid. */
async function linesOf(
  args: (files: ReturnType<typeof folder>) => string[],
  options: ServiceOptions = {},
): Promise<Line[]> {
  const files = folder((cleanUp) => onTestFinished(cleanUp));
  const service = await startOperationsService({ indices: sampleIndices(2000), ...options });
  onTestFinished(() => service.close());
  const asked = parseArguments([...args(files), ...['--gms-url', service.url, '--log', 'json']], {
    DATAHUB_GMS_TOKEN: service.token,
  }) as ServerRunArguments | SurveyArguments;
  const lines: Line[] = [];
  const output = jsonLines((line) => {
    expect(line.endsWith('\n')).toBe(true);
    lines.push(JSON.parse(line));
  });
  await execute(asked, output, {}, 'npm start --');
  for (const line of lines) expect(() => eventSchema.parse(line), JSON.stringify(line)).not.toThrow();
  return lines;
}

const operation = { entityType: 'dataset', aspect: 'operation', retentionDays: 60 };
const run = (files: ReturnType<typeof folder>, verb: string, ...more: string[]) => [
  verb,
  ...['--policies', files.write('p.json', [operation, { ...operation, aspect: 'datasetProfile', retentionDays: 365 }])],
  ...['--ledger', files.at('ledger'), ...more],
];
const named = (lines: Line[], event: EventName) => lines.filter((line) => line.event === event);

describe('--log json', () => {
  it('writes a run as events from its header to its report, in order', async () => {
    const lines = await linesOf((files) => run(files, 'enforce', '--fast', '--json', files.at('r.json')));
    expect([...new Set(lines.map(({ event }) => event))]).toEqual([
      'header',
      'note',
      'counting',
      'planned',
      'started',
      'progress',
      'verdict',
      'report',
      'written',
    ]);
    expect(lines[0]).toMatchObject({ mode: 'enforce', embedded: false, fast: true, ledger: expect.any(String) });
    expect(named(lines, 'planned')).toMatchObject([
      { aspect: 'datasetProfile', decision: 'below-threshold', cause: { kind: 'below-threshold' }, rowsTotal: 218 },
      { aspect: 'operation', decision: 'truncate', rowsTotal: 818, percent: expect.any(Number) },
    ]);
    expect(named(lines, 'started')).toMatchObject([{ aspect: 'operation', taskId: expect.any(String) }]);
    expect(named(lines, 'verdict')).toMatchObject([
      { aspect: 'operation', outcome: 'truncated', cause: { kind: 'verified' } },
    ]);
    expect(named(lines, 'report')).toMatchObject([
      { subject: '[DataHub retention] 127.0.0.1: 1 truncated', report: { result: 'ok' } },
    ]);
  });

  it('writes the preflight of a preview once, whole and in words', async () => {
    const lines = await linesOf((files) => run(files, 'preview'), { faults: ['denied=sizes'] });
    expect(named(lines, 'preflight')).toMatchObject([
      {
        checks: expect.arrayContaining([
          { name: 'Sizes', state: 'failed', text: expect.any(String), remedy: expect.any(String) },
        ]),
      },
    ]);
    expect(named(lines, 'note')).toMatchObject([{ note: { kind: 'no-sizes' }, text: expect.any(String) }]);
  });

  it('writes a survey index by index', async () => {
    const lines = await linesOf((files) => ['survey', '--json', files.at('p.json')]);
    expect(named(lines, 'surveyed')).toHaveLength(10);
    expect(named(lines, 'surveyed')[0]).toMatchObject({ rowsTotal: 2000, older: { 30: expect.any(Number) } });
    expect(named(lines, 'suggested')).toHaveLength(9);
    expect(named(lines, 'written')).toMatchObject([{ what: 'policies' }]);
  });

  it('is documented, with every event and its fields', () => {
    const text = readFileSync(new URL('../../../docs/local-runner.md', import.meta.url), 'utf8');
    const rows = new Map(
      [...text.matchAll(/^\| `([\w-]+)` \| (.*?) \| /gm)].map(([, event, fields]) => [event!, fields!] as const),
    );
    for (const [event, fields] of Object.entries(events)) {
      // A verdict's fields are those of the report.
      const named = event === 'verdict' ? ['entityType', 'aspect', 'outcome', 'cause', 'reason'] : Object.keys(fields);
      for (const field of named) expect(rows.get(event), event).toContain(`\`${field}\``);
    }
  });
});
