import { expect, test } from 'vitest';
import { composeMessage } from '../../../lambda/notification/message.ts';
import { deployments, only, outcomesOf } from '../../support/deployment.ts';
import { asReindex, name, recordOf } from '../run/nights/nights.ts';

/** Commands that a message must not offer. */

const started = deployments();

test('after missing rows Slack has no command that clears the index, and the email has it after the repair', async () => {
  const deployment = await started({ faults: ['reindex-fails=400'], policies: [asReindex] });
  const report = await deployment.night();
  expect(only(report).outcome).toBe('rows-missing');
  const { https, email } = composeMessage(report, { runbookUrl: 'https://example.com/runbook' });
  expect(https).not.toMatch(/acceptMissing|start-execution|\{\\+"clear/);
  expect(email.indexOf('_aliases')).toBeGreaterThan(0);
  expect(email.indexOf('"clear"')).toBeGreaterThan(email.indexOf('_aliases'));
});

test('after a failed preview no command that enforces is offered', async () => {
  const deployment = await started();
  deployment.service.engine.fault('unauthorized-empty');
  const report = await deployment.night({ mode: 'preview' });
  const { https, email } = composeMessage(report, {
    stateMachineArn: 'arn:aws:states:eu-central-1:1:stateMachine:x',
  });
  for (const text of [https, email]) expect(text).not.toMatch(/"mode":"enforce"|--input '\{\}'/);
  expect(outcomesOf(report)).toEqual({ [name]: 'failed' });
  expect(await recordOf(deployment)).toBeUndefined();
});
