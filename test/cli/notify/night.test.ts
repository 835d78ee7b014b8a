import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseArguments, type ServerRunArguments } from '../../../cli/command-line/arguments.ts';
import { previewMessage } from '../../../cli/command-line/preview-message.ts';
import { execute } from '../../../cli/execute.ts';
import type { SlackMessage } from '../../../cli/notify/slack.ts';
import type { Report } from '../../../lambda/facts/report-schema.ts';
import { type ServiceOptions, startOperationsService } from '../../operations-service/server.ts';
import { folder, page } from '../processes.ts';
import { secretPath, startReceiver } from './receiver.ts';

/** A whole run whose message is posted, over real HTTP on both sides. */
async function night(options: { service?: ServiceOptions; args?: string[]; answers?: number[]; note?: string } = {}) {
  const files = folder((cleanUp) => onTestFinished(cleanUp));
  const receiver = await startReceiver();
  receiver.answers.push(...(options.answers ?? []).map((status) => ({ status, body: 'no_service' })));
  onTestFinished(receiver.close);
  const indices = [{ entityType: 'dataset', aspect: 'operation', rows: 1000, days: 100 }];
  const service = await startOperationsService({ indices, ...options.service });
  onTestFinished(() => service.close());
  const policy = {
    entityType: 'dataset',
    aspect: 'operation',
    retentionDays: 30,
    note: options.note?.replace('URL', receiver.url),
  };
  const asked = parseArguments(
    [
      ...['enforce', '--gms-url', service.url, '--token-file', files.write('token', service.token)],
      ...['--policies', files.write('policies.json', [policy]), '--ledger', files.at('ledger'), '--fast'],
      ...['--notify-url-file', files.write('hook', receiver.url), '--json', files.at('report.json')],
      ...(options.args ?? []),
    ],
    {},
  ) as ServerRunArguments;
  const { output, text } = page();
  const status = await execute(asked, output, {}, 'npm start --');
  return {
    status,
    text: text(),
    bodies: receiver.received.map(({ body }) => body),
    path: files.at('report.json'),
    report: files.report('report.json'),
    reportText: readFileSync(files.at('report.json'), 'utf8'),
  };
}

const refused: ServiceOptions = { faults: ['denied=truncate'] };

describe('a run with a webhook', () => {
  it('posts a message for Slack after it was printed', async () => {
    const { status, text, bodies, report } = await night();
    expect(status).toBe(0);
    expect(bodies).toHaveLength(1);
    const { text: fallback, blocks } = bodies[0] as SlackMessage;
    expect(fallback).toBe(':white_check_mark: DataHub retention 127.0.0.1: 1 truncated');
    expect(blocks).toEqual([
      { type: 'header', text: { type: 'plain_text', text: fallback, emoji: true } },
      { type: 'section', text: { type: 'mrkdwn', text: expect.stringContaining('dataset.operation') } },
      { type: 'context', elements: [{ type: 'mrkdwn', text: `Run ${report.runId}` }] },
    ]);
    expect(text.replace(/\s+/g, ' ')).toMatch(
      /Subject: \[DataHub retention\].* The message was posted to 127\.0\.0\.1:\d+\./,
    );
  });

  it('posts a bad night with its next step', async () => {
    const { status, bodies } = await night({ service: refused });
    expect(status).toBe(1);
    const { text, blocks } = bodies[0] as SlackMessage;
    expect(text).toMatch(/^:warning: DataHub retention 127.0.0.1: /);
    expect(JSON.stringify(blocks)).toMatch(
      /Truncate timeseries aspect index size API.*Next steps.*Grant this privilege/,
    );
  });

  it('posts what preview-message prints of its report for Slack', async () => {
    for (const service of [{}, refused]) {
      const { bodies, path } = await night({ service });
      const printed = previewMessage(['--report', path, '--format', 'slack', '--local', 'npm start --']);
      expect(JSON.parse(printed)).toEqual(bodies[0]);
    }
  });

  it('posts the report itself if that is asked for', async () => {
    const { bodies, report } = await night({ args: ['--notify-format', 'json'] });
    expect(bodies).toEqual([report]);
    expect((bodies[0] as Report).policies).toMatchObject([{ outcome: 'truncated' }]);
  });

  it('for problems only is not called after a good night', async () => {
    const good = await night({ args: ['--notify', 'problems'] });
    expect([good.status, good.bodies]).toEqual([0, []]);
    const bad = await night({ args: ['--notify', 'problems'], service: refused });
    expect(bad.bodies).toHaveLength(1);
  });

  it('that refuses the message makes the exit status 1, and the refusal is printed after the message', async () => {
    const { status, text, report } = await night({ answers: [404] });
    expect(report.result).toBe('ok');
    expect(status).toBe(1);
    expect(text.replace(/\s+/g, ' ')).toMatch(
      /Subject: .* The message could not be posted to 127\.0\.0\.1:\d+: it answered 404 \("no_service"\)\. The address may/,
    );
  });

  it('never prints the address, even if a server or a policy contains it', async () => {
    const { text, bodies, reportText } = await night({ note: 'told at URL', answers: [404] });
    expect(`${text}${JSON.stringify(bodies)}${reportText}`).not.toContain(secretPath.slice(1));
    expect(reportText).toContain('told at [webhook]');
  });
});
