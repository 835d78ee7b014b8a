import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../../lambda/facts/cause.ts';
import type { Outcome } from '../../../../lambda/facts/outcomes.ts';
import type { DecidedFacts, Report } from '../../../../lambda/facts/report-schema.ts';
import type { MessageContext } from '../../../../lambda/notification/context.ts';
import { composeMessage } from '../../../../lambda/notification/message.ts';
import { nightReports } from '../../../support/nights/reports.ts';
import { anEntry, aReport } from '../../../support/reports.ts';
import { context } from '../custom-notification.ts';

/** Next steps in words, with commands for the place in which they are read. */

const local: MessageContext = {
  local: true,
  localCommand: { program: 'npm start --', options: '--fast', policies: 'p.json' },
};
const reports = await nightReports();
const golden = Object.fromEntries(reports);
const mailOf = (report: Report, where: MessageContext = context) => composeMessage(report, where).email;
const one = (outcome: Outcome, cause: Cause, more: Partial<DecidedFacts> = {}, where = context) =>
  mailOf(aReport([anEntry(outcome, cause, more)]), where);
const watching: Cause = { kind: 'watching', why: 'run', done: 5, total: 9 };

describe('a command', () => {
  test('never offers to cancel a reindex, nor a task whose id the search engine would not take', () => {
    const seen: Cause = { ...watching, does: 'delete' };
    const running = (more: object, cause = seen) => one('still-running', cause, { taskId: 'node:1', ...more });
    expect(running({})).toContain(
      'This would stop it (what is deleted stays deleted):\n  POST _tasks/node:1/_cancel\n',
    );
    // A server may reindex although asked to delete, and counters of zero do not show which it does.
    expect(running({}, watching)).not.toContain('_cancel');
    expect(running({}, { ...watching, does: 'copy' })).not.toContain('_cancel');
    expect(running({ strategy: 'reindex' })).not.toContain('_cancel');
    expect(running({ strategy: 'unknown' })).not.toContain('_cancel');
    expect(running({ taskId: '3f0c1d9e-8a55-4f0e-9a3e-0c6c5b1f2d77' })).not.toContain('_cancel');
  });

  test('cancels what hangs only below a look at its action, and never what may have copied', () => {
    const hung = (more: object, cause: object = {}) =>
      one('unknown', { kind: 'unsettled', why: 'hung', ...cause }, { taskId: 'node:1', ...more });
    expect(hung({})).toMatch(
      /about its task:\n {2}GET _tasks\/node:1\nThis would stop a delete\/byquery: .*\n {2}POST _tasks\/node:1\/_cancel\n/,
    );
    for (const copying of [hung({}, { copied: true }), hung({ strategy: 'reindex' }), hung({ strategy: 'unknown' })]) {
      expect(copying).not.toContain('_cancel');
      expect(copying).toContain('Do not cancel it: a copy that is stopped leaves the index half empty.');
      expect(copying).toContain('  GET _tasks/node:1\n');
    }
  });

  test('renews a token in its parameter, under the key that encrypts it', () => {
    const tokenKeyArn = 'arn:aws:kms:eu-central-1:111122223333:key/1';
    const email = mailOf(golden['run-errors/token-refused']!, {
      ...context,
      tokenParameter: '/team/token',
      tokenKeyArn,
    });
    expect(email).toContain(
      `This stores it in account 111122223333:\n  aws ssm put-parameter --name /team/token --type SecureString --key-id ${tokenKeyArn} --overwrite`,
    );
    expect(email.match(/put-parameter/g)).toHaveLength(1);
  });

  test('lets a paused job run again', () => {
    expect(mailOf(golden['held-back/paused']!)).toContain(
      'This lets it run again in account 111122223333:\n  aws ssm put-parameter --name /datahub-retention/prod/paused --type String --overwrite --value false',
    );
  });

  test('is the bare input if the workflow is unknown', () => {
    expect(mailOf(golden['held-back/above-ceiling']!, {})).toContain(
      '\n  {"mode":"enforce","only":["dataset.operation"],"approveRows":45150}\n',
    );
  });

  test('keeps names from breaking out of it', () => {
    const entry = anEntry('quarantined', { kind: 'quarantined', since: 1, outcome: 'unknown' });
    const report = aReport([{ ...entry, entityType: 'x', aspect: "'; rm -rf ~; '`$(id)`" }]);
    const command = /--input '(.*)'$/m.exec(mailOf(report))?.[1] ?? '';
    expect(command).not.toMatch(/['`]/);
    expect(JSON.parse(command)).toEqual({ clear: ["x.'; rm -rf ~; '`$(id)`"] });
    expect(mailOf(report, local)).toContain(`clear 'x.'\\''; rm -rf ~; '\\''\`$(id)\`'`);
  });

  test('clears no more indices than one run takes', () => {
    const cause: Cause = { kind: 'foreign', why: 'version', version: 9 };
    const many = Array.from({ length: 60 }, (_, at) => anEntry('in-flight', cause, { name: `a.b${at}` }));
    const { clear } = JSON.parse(/--input '(\{"clear".*)'$/m.exec(mailOf(aReport(many)))![1]!);
    expect(clear).toHaveLength(50);
  });
});

describe('a text', () => {
  test('says when and how a truncation whose end was not seen is closed', () => {
    const lost = (strategy: string) =>
      one('unknown', { kind: 'unsettled', why: 'still', vanished: true }, { strategy });
    expect(lost('delete-by-query')).toMatch(/20 hours after it was sent.*truncated in the ordinary way again/);
    expect(lost('reindex')).toMatch(/20 hours after it was sent.*the index is quarantined/);
  });

  test('asks whether a refused token was sent to the right DataHub before it asks for a new one', () => {
    for (const where of [context, local]) {
      expect(mailOf(golden['run-errors/token-refused']!, where)).toMatch(
        /^Next: Make sure that the address is that of the DataHub you mean; if it is, create a new access token/m,
      );
    }
  });

  test('sends nobody to security groups where a server refused the connection, only where nothing answered', () => {
    const unreachable = (code: string) =>
      one('failed', { kind: 'server', error: { kind: 'connect', operation: 'dry-run', code }, sent: 'no' });
    expect(unreachable('ECONNREFUSED')).toContain('the server is down, or the port is wrong');
    expect(unreachable('ECONNREFUSED')).not.toContain('security groups');
    expect(unreachable('UND_ERR_CONNECT_TIMEOUT')).toContain('security groups');
    expect(unreachable('UND_ERR_CONNECT_TIMEOUT')).not.toContain('nothing listens');
  });

  test('answers a missing privilege with the privilege, and asks for no new token', () => {
    for (const where of [context, local]) {
      const email = mailOf(golden['refusals/privilege-missing']!, where);
      expect(email).toContain("Next: Grant this privilege to the token's owner in DataHub");
      expect(email).not.toContain('new access token');
    }
  });

  test('about a truncation that no look has seen says what to repair, and not that it is deleting', () => {
    const error = { kind: 'privilege', operation: 'task-status', status: 403 } as const;
    const email = one('still-running', { kind: 'watching', why: 'run', hours: 12, error }, { taskId: 'n:1' });
    expect(email).toContain('dataset.operation: its truncation could not be looked at.');
    expect(email).toContain('Next: Grant this privilege');
    expect(email).not.toMatch(/still deleting|Next: Nothing/);
  });

  test('about one of which only the last look failed says that it is deleting', () => {
    const error = { kind: 'timeout', operation: 'task-status' } as const;
    expect(one('still-running', { ...watching, error })).toContain('still deleting when the run ended');
  });

  test('names the two ways for a record of another address', () => {
    const email = mailOf(golden['foreign/held-under-another-address']!);
    expect(email).toMatch(
      /If that is another server, give it a stage of its own\. If it is the same server .*clear the index/,
    );
    const here = mailOf(golden['foreign/held-under-another-address']!, local);
    expect(here).toContain('give it a ledger of its own (--ledger)');
  });

  test('about a table that may not be read says who grants what, and does not promise that it passes', () => {
    const problem = 'AccessDeniedException: the Plan function needs dynamodb:Query';
    const email = mailOf(aReport([], { cause: { kind: 'ledger', problem } }));
    expect(email).toContain('How urgent: this week.');
    expect(email).toMatch(
      /Next: See that the table of the ledger is there\. Where access is denied, deploy the stage again/,
    );
    expect(email).not.toContain('Next: Nothing');
    const forgotten = aReport([], { notes: [{ kind: 'memory-unavailable', problem }] });
    expect(mailOf(forgotten)).toMatch(/Next: See that the table of the memory of nights is there/);
  });

  test('names the page and section of the runbook if no address is configured', () => {
    for (const where of [{}, local]) {
      const { email, https } = composeMessage(golden['missing/rows-missing-after-a-reindex']!, where);
      for (const form of [email, JSON.parse(https).content.description])
        expect(form).toContain('docs/runbook.md of datahub-retention, "Outcome: rows-missing"');
    }
  });

  test('says where a wrong policy is corrected', () => {
    const wrong: Cause = { kind: 'policy', problem: 'retentionDays is missing' };
    expect(one('failed', wrong)).toContain('Correct the policy in the stage file and deploy, or in its parameter');
    expect(one('failed', wrong, {}, local)).toContain(
      'Correct the policy in its file, then start the same command again.',
    );
  });
});

describe('what does not pass by itself', () => {
  const failed: Cause = { kind: 'step-failed', step: 'truncate', error: 'TypeError', sent: 'no' };
  const status = { kind: 'guard', which: 'task-status' } as const;

  test.each<[string, Outcome, Cause, RegExp]>([
    [
      'a function that breaks down',
      'failed',
      failed,
      /Look at the log of the Truncate function.*will fail the same way/,
    ],
    ['one that may have sent something', 'unknown', { ...failed, sent: 'maybe' }, /Look at the log of the Truncate/],
    [
      'task statuses without a reason',
      'failed',
      status,
      /logs of GMS why .* or set the strategy .* to delete-by-query/,
    ],
    [
      'a pause that may not be read',
      'not-started',
      { kind: 'paused', problem: 'AccessDeniedException: the Plan function needs ssm:GetParameter' },
      /Where access is denied, deploy the stage again.*whoever runs the AWS account grants/,
    ],
    [
      'a ledger record that is gone',
      'unknown',
      { kind: 'unsettled', why: 'no-record' },
      /who deletes from the ledger.*Do not truncate the index before its task has ended/,
    ],
    [
      'a truncation that the server refuses although its dry run went well',
      'failed',
      { kind: 'unchanged', error: { kind: 'server-error', operation: 'truncate', status: 500 } },
      /Look at the logs of GMS/,
    ],
  ])('is work for this week: %s', (_, outcome, cause, step) => {
    const email = one(outcome, cause);
    expect(email).toContain('How urgent: this week.');
    expect(/^Next: (.*)/m.exec(email)![1]).toMatch(step);
    expect(email).not.toContain('Next: Nothing');
  });
});

describe('the local runner', () => {
  test('gets its own command lines', () => {
    expect(mailOf(golden['held-back/above-ceiling']!, local)).toContain(
      '\n  npm start -- enforce --fast --policies p.json --only dataset.operation --approve-rows 45150\n',
    );
    expect(mailOf(golden['missing/quarantined-next-night']!, local)).toContain(
      '\n  npm start -- clear dataset.operation --fast\n',
    );
    expect(mailOf(golden['clearing/clear-not-released']!, local)).toContain(
      '\n  npm start -- clear dataset.operation --fast --accept-missing 18000\n',
    );
  });

  test('without its own command line leaves gaps in them', () => {
    expect(mailOf(golden['held-back/above-ceiling']!, { local: true })).toContain(
      '\n  npm start -- enforce --gms-url URL --token-file FILE --policies FILE --only dataset.operation --approve-rows 45150\n',
    );
  });

  test('of a demonstration gets commands that touch no server', () => {
    const demo = { local: true, localCommand: { program: 'npm start --', isDemo: true, options: '' } } as const;
    expect(mailOf(golden['held-back/above-ceiling']!, demo)).toContain(
      '\n  npm start -- demo --only dataset.operation --approve-rows 45150\n',
    );
  });

  test('in a cluster is the one that its manifest offers, for every input, and a next run is promised', () => {
    const byHand = "sed 's/VERB,$/{},/' by-hand.yaml | kubectl create --filename -";
    const options = '--gms-url http://gms:8080 --ledger /ledger/in-flight.json';
    const cluster = { local: true, localCommand: { program: 'datahub-retention', options, byHand } } as const;
    expect(mailOf(golden['held-back/above-ceiling']!, cluster)).toContain(
      "\n  sed 's/VERB,$/enforce, --only=dataset.operation, --approve-rows=45150,/' by-hand.yaml | kubectl create --filename -\n",
    );
    for (const [name, report] of reports) {
      const { email, https } = composeMessage(report, cluster);
      expect(email, name).not.toMatch(/^ {2}(?:aws|npm|datahub-retention) /m);
      expect(email, name).not.toMatch(/same command again/i);
      expect(`${email}${https}`, name).not.toMatch(/in the mail/);
    }
  });

  test('promises no next run, and offers no command for AWS', () => {
    for (const [name, report] of reports) {
      const email = mailOf(report, local);
      expect(email, name).not.toMatch(/^ {2}aws /m);
      expect((email.match(/^Next: .*/gm) ?? []).join('\n'), name).not.toMatch(
        /the next run|stage file|Lambda|function/i,
      );
    }
  });
});
