import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type DemoArguments,
  parseArguments,
  type ServerRunArguments,
  type SurveyArguments,
} from '../../../cli/command-line/arguments.ts';
import { execute } from '../../../cli/execute.ts';
import { sampleIndices } from '../../../cli/operations-service/samples.ts';
import type { Output } from '../../../cli/output/output.ts';
import { type ServiceOptions, startOperationsService } from '../../operations-service/server.ts';
import { folder, page } from '../processes.ts';

const files = () => folder((cleanUp) => onTestFinished(cleanUp));

async function service(options: ServiceOptions = {}) {
  const started = await startOperationsService({ indices: sampleIndices(2000), ...options });
  onTestFinished(() => started.close());
  return started;
}

/** Runs a command line in this process. `watch` receives the output as well. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}, watch: Partial<Output> = {}) {
  const { output, text } = page();
  const asked = parseArguments(args, env) as DemoArguments | SurveyArguments | ServerRunArguments;
  const heard = new Proxy(output, {
    get:
      (told, name: keyof Output) =>
      (...values: unknown[]) => {
        (watch[name] as ((...all: unknown[]) => void) | undefined)?.(...values);
        return (told[name] as (...all: unknown[]) => unknown)(...values);
      },
  });
  const status = await execute(asked, heard, env, 'npm start --');
  return { status, text: text() };
}

/** The options that name a server, and an environment without anyone's state. */
async function aServer({ at }: ReturnType<typeof files>, options: ServiceOptions = {}) {
  const { url, token, engine } = await service(options);
  return { args: ['--gms-url', url], env: { DATAHUB_GMS_TOKEN: token, XDG_STATE_HOME: at('state') }, token, engine };
}

const policies = [
  { entityType: 'dataset', aspect: 'operation', retentionDays: 90, note: 'agreed in <June>' },
  { entityType: 'dataset', aspect: 'datasetProfile', retentionDays: 365 },
];

describe('--html', () => {
  it('draws a survey: every index by age, with the policy to begin with', async () => {
    const own = files();
    const { args, env, token } = await aServer(own);
    const { status, text } = await run(['survey', ...args, '--html', own.at('survey.html')], env);
    expect([status, text]).toEqual([0, expect.stringContaining(`The page is in ${own.at('survey.html')}.`)]);
    const html = readFileSync(own.at('survey.html'), 'utf8');
    expect(html).toContain('dataset.datasetUsageStatistics: rows by age');
    expect(html).toContain('Suggested: 180 days');
    expect(html).not.toContain(token);
  });

  it('draws a preview: what would go, with nothing changed on the server', async () => {
    const own = files();
    const { args, env } = await aServer(own);
    const named = ['preview', ...args, '--policies', own.write('p.json', policies), '--html', own.at('preview.html')];
    expect((await run(named, env)).status).toBe(0);
    const html = readFileSync(own.at('preview.html'), 'utf8');
    expect(html).toContain('<h1>1 would be truncated</h1>');
    expect(html).toContain('82 would go (180–365 d), 10.0 %.');
    expect(html).toContain('would be freed, estimated');
    expect(html).toContain('agreed in &lt;June&gt;');
    expect(html).toContain('The message, as it was sent');
    expect(existsSync(own.at('state'))).toBe(false);
  });

  it('draws a run: rows deleted by its verdict, rows left by age', async () => {
    const own = files();
    const { args, env } = await aServer(own);
    const named = ['--policies', own.write('p.json', policies), '--fast', '--ledger', own.at('l.json')];
    const { status } = await run(['enforce', ...args, ...named, '--html', own.at('run.html')], env);
    expect(status).toBe(0);
    const html = readFileSync(own.at('run.html'), 'utf8');
    expect(html).toContain('<h1>1 truncated</h1>');
    expect(html).toMatch(/One bar of 818 rows, the oldest left\. \d+ went \(over 90 d\)/);
    expect(html).toContain('One night is remembered');
  });

  it('draws the demonstration', async () => {
    const own = files();
    const path = own.at('demo.html');
    expect((await run(['demo', '--only', 'chart.chartUsageStatistics', '--html', path])).status).toBe(0);
    expect(readFileSync(path, 'utf8')).toContain('chart.chartUsageStatistics: rows by age');
  });
});

describe('a page that cannot be written', () => {
  async function asked(htmlPath: (own: ReturnType<typeof files>) => string, ...more: string[]) {
    const own = files();
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url ?? '');
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const args = ['survey', '--gms-url', url, '--html', htmlPath(own), ...more];
    const problem = await run(args, { DATAHUB_GMS_TOKEN: 'abcdef' }).then(
      () => 'none',
      (error: Error) => `${error.name}: ${error.message}`,
    );
    return { problem, requests };
  }

  it.each<[string, (own: ReturnType<typeof files>) => string, RegExp]>([
    ['in a folder that does not exist', ({ at }) => at('no/page.html'), /--html .*its folder does not exist/],
    [
      'because it is a folder',
      ({ at }) => {
        mkdirSync(at('page.html'));
        return at('page.html');
      },
      /--html .*it is a folder/,
    ],
    [
      "in place of someone's own page",
      ({ write }) => write('index.html', '<!doctype html><title>Mine</title>'),
      /is no page of this program: name another file, or add --force to replace it/,
    ],
  ])('%s is reported before the first request', async (_name, path, expected) => {
    const { problem, requests } = await asked(path);
    expect(problem).toMatch(expected);
    expect(problem).toMatch(/^UsageError: /);
    expect(requests).toEqual([]);
  });

  it('at the path of the report is refused', async () => {
    const own = files();
    const { problem } = await asked(() => own.at('x'), '--json', own.at('x'));
    expect(problem).toMatch(/--html .* is the file of --json/);
  });

  it('in the end is reported, and the run ends as it would without a page', async () => {
    const own = files();
    const { args, env } = await aServer(own);
    mkdirSync(own.at('pages'));
    const named = ['preview', ...args, '--policies', own.write('p.json', policies), '--html', own.at('pages/p.html')];
    const gone: Partial<Output> = { report: () => rmSync(own.at('pages'), { recursive: true }) };
    const { status, text } = await run(named, env, gone);
    expect(status).toBe(0);
    expect(text.replace(/\s+/g, ' ')).toContain(`--html ${own.at('pages/p.html')} was not written: no such file`);
  });

  it('before is replaced by the next one', async () => {
    const own = files();
    const { args, env } = await aServer(own);
    for (const _ of [1, 2])
      expect((await run(['survey', ...args, '--html', own.at('survey.html')], env)).status).toBe(0);
  });
});

describe('ages for a page', () => {
  it('that the server refuses to count are left out, and the page says so', async () => {
    const own = files();
    const { args, env, engine } = await aServer(own);
    const named = ['preview', ...args, '--policies', own.write('p.json', policies), '--html', own.at('p.html')];
    const { status } = await run(named, env, { report: () => engine.fault('denied=truncate') });
    expect(status).toBe(0);
    expect(readFileSync(own.at('p.html'), 'utf8')).toContain('2 indices were not counted by age');
  });
});
