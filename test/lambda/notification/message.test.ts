import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Outcome, outcomes, resultOf, results } from '../../../lambda/facts/outcome.ts';
import { checkNames, type Report, reportSchema } from '../../../lambda/facts/report-schema.ts';
import {
  type ComposedMessage,
  composeMessage,
  messageAttributes,
  messageBody,
  publishedBytes,
} from '../../../lambda/notification/message.ts';
import { deletedSentence } from '../../../lambda/notification/subject.ts';
import { context, customNotificationSchema } from './custom-notification.ts';
import { checksOf, entryOf, reportOf, reports, troubled, truncated } from './reports.ts';

/** Characters that XML, and so SQS, refuses. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const notXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;
/** Characters that steer a terminal or turn text around. */
const steering =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/** What SNS checks, and what each protocol's reader needs. */
function expectValid(message: ComposedMessage, names: readonly string[]): void {
  expect(message.subject).toMatch(/^[\x21-\x7e][\x20-\x7e]{0,98}$/);
  const body = JSON.parse(messageBody(message));
  expect(Object.keys(body).sort()).toEqual(['default', 'email', 'https', 'lambda', 'sqs']);
  for (const text of Object.values(body)) expect(typeof text).toBe('string');
  expect(Buffer.byteLength(messageBody(message))).toBeLessThan(262_144);
  expect(publishedBytes(message)).toBeLessThan(262_144);
  for (const { DataType, StringValue } of Object.values(messageAttributes(message))) {
    expect(DataType).toBe('String');
    expect(StringValue).not.toBe('');
  }
  expect(messageBody(message)).not.toMatch(notXml);
  expect(message.email).not.toMatch(steering);
  const slack = customNotificationSchema.parse(JSON.parse(body.https));
  const report = reportSchema.parse(JSON.parse(body.sqs));
  expect(body.lambda).toBe(body.sqs);
  expectComplete(message.email, names);
  expectComplete(slack.content.description, names);
  const kept = new Set(report.policies.map(({ entityType, aspect }) => `${entityType}.${aspect}`));
  if (kept.size < names.length) {
    expect(report.notes?.[0]).toContain(
      `${names.length - report.policies.length} of ${names.length} policies are left out`,
    );
  }
}

/** Every policy is named, or counted among those that are not. */
function expectComplete(text: string, names: readonly string[]): void {
  // What is coming up is named there once more, or for the first time.
  const told = text.split('\nCOMING UP\n')[0]!;
  const unnamed = names.filter((name) => !told.includes(name)).length;
  const counted = [...text.matchAll(/Not named here[^:]*: (\d+) /g)].map(([, count]) => Number(count));
  expect(counted[0] ?? 0).toBe(unnamed);
}

const namesOf = (report: Report) => report.policies.map(({ entityType, aspect }) => `${entityType}.${aspect}`);

describe('the message of a run', () => {
  it.each(Object.entries(reports))('is valid for SNS, Slack and the report schema: %s', (_, report) => {
    expectValid(composeMessage(report, context), namesOf(report));
  });

  it.each(outcomes)('has a sentence and, where it needs a person, a next step: %s', (outcome) => {
    const { email } = composeMessage(reportOf([entryOf('dataset.operation', outcome, { reason: '' })]), context);
    expect(email).toMatch(/dataset\.operation: \w.*\.\n/);
    expect(/\nNext: \w/.test(email)).toBe(resultOf[outcome] !== 'ok');
  });

  it('gives every outcome another sentence', () => {
    const sentences = outcomes.map((outcome) => {
      const { email } = composeMessage(reportOf([entryOf('dataset.operation', outcome)]));
      return /dataset\.operation: (.*)\n/.exec(email)?.[1];
    });
    expect(new Set(sentences).size).toBe(outcomes.length);
  });

  it('carries the report itself to machines, digit for digit', () => {
    const { sqs, lambda } = composeMessage(reports.troubled, context);
    expect(JSON.parse(sqs)).toEqual(JSON.parse(JSON.stringify(reports.troubled)));
    expect(lambda).toBe(sqs);
  });

  it('says PREVIEW where nobody can miss it', () => {
    const { subject, email, https } = composeMessage(reports.preview, context);
    expect(subject).toMatch(/^\[DataHub retention\] PREVIEW /);
    expect(email).toMatch(/^PREVIEW/);
    const { title, description } = JSON.parse(https).content;
    expect(title).toContain('PREVIEW');
    expect(description).toMatch(/^\*PREVIEW/);
    expect(email).not.toContain('deleted and verified');
    expect(email).toContain('set "mode": "enforce" in infra/stages/prod.json');
  });

  it('begins with the result and goes on with the worst problem', () => {
    const { email } = composeMessage(reports.troubled, context);
    const [first] = email.split('\n');
    expect(first).toContain('ROWS MISSING in 1 index, 3 failed');
    expect(email.indexOf('dataset.datasetUsageStatistics')).toBeLessThan(email.indexOf('custom.failed'));
    expect(email.indexOf('custom.failed')).toBeLessThan(email.indexOf('assertion.assertionRunEvent'));
    expect(email.indexOf('assertion.assertionRunEvent')).toBeLessThan(email.indexOf('chart.chartUsageStatistics'));
  });

  it('opens a preview with its preflight: one line where all is well', () => {
    const { email, https } = composeMessage(reports.preview, context);
    expect(email.split('\n')[3]).toBe(
      'Preflight: address, DNS, connection, token (expires in 80 days), sizes, truncation, task status, clock: all well.',
    );
    expect(JSON.parse(https).content.description).toContain('Preflight: all well.');
  });

  it('opens a preview with every check that is not well and its remedy, and does not call that "all well"', () => {
    const { subject, email, https, sqs } = composeMessage(reports['preview-with-two-failed-checks'], context);
    expect(subject).toMatch(/: 1 would be truncated, 2 checks failed$/);
    expect(email).toMatch(
      /\nPREFLIGHT\n- Sizes FAILED: .*Runs work without.*\n- Task status FAILED: .*\n- Well: address/,
    );
    expect(email).not.toContain('all well');
    expect(JSON.parse(https).content.description).toMatch(/Preflight, \*Sizes FAILED\*: .*\n.*\*Task status FAILED\*/);
    expect(JSON.parse(sqs)).toMatchObject({ result: 'ok', preflight: { length: 8 } });
  });

  it.each<[string, Report, string]>([
    ['error', reports['preview-without-connection'], 'no connection to gms'],
    ['note', reports['preview-with-two-failed-checks'], 'unauthorized to get timeseries'],
    [
      'policies',
      reportOf(
        ['a', 'b'].map((aspect) =>
          entryOf(`dataset.${aspect}`, 'failed', { reason: `Dry run of dataset.${aspect}: the server answered 403.` }),
        ),
        {
          mode: 'preview',
          preflight: checksOf({
            Truncation: { state: 'failed', text: 'the server answered 403.', remedy: 'grant it' },
          }),
        },
      ),
      'answered 403',
    ],
  ])('says once what check and %s tell of', (_, report, cause) => {
    const { email } = composeMessage(report, context);
    expect(email).toContain('PREFLIGHT\n');
    expect(email.split(cause)).toHaveLength(2);
  });

  it('tells two refusals that differ in their last words alone', () => {
    const refusal = (last: string) => `the server answered 403: "${'x'.repeat(120)}". It lacks the privilege ${last}.`;
    const reason = `Dry run of a.b: ${refusal('to truncate')}`;
    const { email } = composeMessage(
      reportOf([entryOf('a.b', 'failed', { reason })], {
        mode: 'preview',
        preflight: checksOf({
          Truncation: { state: 'failed', text: refusal('to truncate'), remedy: 'grant it' },
          Sizes: { state: 'failed', text: refusal('for sizes'), remedy: 'grant it' },
        }),
      }),
      context,
    );
    expect(email).toContain('- Truncation FAILED: see below.');
    expect(email).toContain('It lacks the privilege for sizes.');
  });

  it('gives the command for a new token once, whether a check, a note or the error of the run asks for it', () => {
    const old = reports['preview-with-an-old-token'];
    const text = 'expired 3 days ago (2026-08-11 03:30 UTC)';
    const expired: Report = {
      ...reports['token-refused'],
      mode: 'preview',
      preflight: checksOf({ Token: { state: 'failed', text, remedy: 'create one' } }).slice(0, 4),
      notes: ['The token expired on 2026-08-11: create a new one in DataHub and store it.'],
    };
    for (const report of [old, expired]) {
      const { email } = composeMessage(report, context);
      expect(email.match(/put-parameter/g)).toHaveLength(1);
      expect(email).not.toContain('TO KNOW');
    }
    expect(composeMessage(expired, context).email).toContain(`- Token FAILED: ${text}.\n`);
  });

  it('does not call a preflight well that could not ask the server', () => {
    const report = { ...reports['failed-in-plan'], mode: 'preview' as const, preflight: checksOf().slice(0, 2) };
    expect(composeMessage(report, context).email).toContain('Preflight: address, DNS: well; the server was not asked.');
  });

  it('asks for no new token where a privilege for sizes is missing', () => {
    const notes = reports['preview-with-two-failed-checks'].notes;
    expect(composeMessage(reportOf([truncated('a.a')], { notes })).subject).not.toContain('token');
  });

  it('gives the subject that the design shows', () => {
    const report = reportOf([truncated('a.a'), truncated('b.b'), truncated('c.c'), troubled[4]!]);
    expect(composeMessage(report).subject).toBe('[DataHub retention] prod: 3 truncated, 1 needs attention');
  });

  it('warns of a token that expires even when all is well', () => {
    const report = reportOf([truncated('a.a')], { notes: ['The token expires on 2026-08-24: create a new one.'] });
    const { subject, email } = composeMessage(report, context);
    expect(subject).toBe('[DataHub retention] prod: 1 truncated, renew the token');
    expect(email).toContain('--name /datahub-retention/prod/token --type SecureString --overwrite');
  });

  it('renews a token under the key that encrypts it, where it is kept', () => {
    const tokenKeyArn = 'arn:aws:kms:eu-central-1:111122223333:key/1';
    const { email } = composeMessage(reports['token-refused'], {
      ...context,
      tokenParameter: '/team/token',
      tokenKeyArn,
    });
    expect(email).toContain(`--name /team/token --type SecureString --key-id ${tokenKeyArn} --overwrite`);
    expect(email.match(/put-parameter/g)).toHaveLength(1);
  });

  it('offers a paused job the command that lets it run again', () => {
    const { email } = composeMessage(
      reportOf([entryOf('a.b', 'not-started', { reason: 'the job is paused' })]),
      context,
    );
    expect(email).toContain(
      'aws ssm put-parameter --name /datahub-retention/prod/paused --type String --overwrite --value false',
    );
  });

  it('tells of one cause once, with the policies that it concerns', () => {
    const { email } = composeMessage(reports['token-refused'], context);
    expect(email).toContain('dataset.operation, dataset.datasetProfile, chart.chartUsageStatistics: failed');
  });

  const notFound = (name: string) =>
    `Dry run of ${name}: the server answered 404. There are no operations at this address.`;

  it('tells of one cause without the policy that happened to meet it', () => {
    const names = ['dataset.operation', 'chart.chartUsageStatistics'];
    const report = reportOf(
      names.map((name) => entryOf(name, 'failed', { reason: notFound(name) })),
      { notes: [`Index sizes are unknown: ${notFound('').replace(/^.*?: /, '')}`, 'Something else: because.'] },
    );
    const { email, https } = composeMessage(report, context);
    expect(email).toContain(
      'dataset.operation, chart.chartUsageStatistics: failed, nothing was deleted.\nThe server answered 404. There',
    );
    expect(JSON.parse(https).content.description).not.toContain('Dry run of');
    expect(email).toContain('- Index sizes are unknown, for a reason that is told above.\n- Something else: because.');
    const alone = composeMessage(reportOf([entryOf('a.b', 'failed', { reason: notFound('a.b') })]), context);
    expect(alone.email).toContain('Dry run of a.b: the server answered 404.');
  });

  const unprivileged =
    'the server answered 403: "User is unauthorized". The token\'s owner lacks the privilege "Truncate timeseries aspect index size API".';

  it('answers a missing privilege with the privilege, and asks for no new token', () => {
    const report = reportOf([entryOf('a.b', 'failed', { reason: `Dry run of a.b: ${unprivileged}` })], {
      error: unprivileged,
      notes: [`Index sizes are unknown: ${unprivileged}`],
    });
    for (const where of [context, { local: true }]) {
      const { subject, email } = composeMessage(report, where);
      expect(email).toContain("Next: Grant the privilege to the token's owner in DataHub");
      expect(email).not.toContain('new access token');
      expect(subject).not.toContain('renew the token');
    }
    const small = reportOf([truncated('a.b')], { notes: [`Index sizes are unknown: ${unprivileged}`] });
    expect(composeMessage(small, context).subject).toBe('[DataHub retention] prod: 1 truncated');
  });

  it('does not call a truncation still deleting that no look has seen, and names what to put right', () => {
    const reason = `the run's 12 hours (maxRunHours) were over; the next run goes on watching; the last look failed: ${unprivileged}`;
    const { email } = composeMessage(reportOf([entryOf('a.b', 'still-running', { reason, taskId: 'n:1' })]), context);
    expect(email).toContain('a.b: its truncation could not be looked at.');
    expect(email).toContain("Next: Grant the privilege to the token's owner");
    expect(email).not.toMatch(/still deleting|Next: Nothing/);
  });

  it('calls a truncation still deleting that was watched until only the last look failed', () => {
    const reason = `7,000 of 8,000 rows done at the last look; the run's 12 hours (maxRunHours) were over; the next run goes on watching; the last look failed: ${unprivileged}`;
    const entry = entryOf('a.b', 'still-running', { reason, taskId: 'n:1', strategy: 'delete-by-query' });
    const { email } = composeMessage(reportOf([entry]), context);
    expect(email).toContain('a.b: still deleting when the run ended');
    expect(email).toContain('_cancel');
  });

  it('says when a truncation that is lost sight of ends by itself, and how', () => {
    const lost = (strategy: string) => composeMessage(reportOf([entryOf('a.b', 'lost', { strategy })]), context).email;
    expect(lost('delete-by-query')).toMatch(/20 hours after it was sent.*truncated in the ordinary way again/);
    expect(lost('reindex')).toMatch(/20 hours after it was sent.*the index is quarantined/);
  });

  it('tells how much of a truncation is done that is lost sight of, where counts can tell', () => {
    const lost = (strategy: string) =>
      composeMessage(
        reportOf([entryOf('a.b', 'lost', { strategy, rowsTotal: 50_000, rowsToDelete: 28_000, rowsDeleted: 14_000 })]),
        context,
      ).email;
    expect(lost('delete-by-query')).toContain('truncation, 14,000 of 28,000 rows deleted, and nothing moves.');
    expect(lost('reindex')).toContain('lost sight of its truncation, and nothing moves.');
  });

  it('repeats the deadline of missing rows where the command to release stands', () => {
    const { email } = composeMessage(reports.troubled, context);
    expect(email).toMatch(/Next: Get the rows back, .*, before the next DataHub upgrade\. Only then release/);
  });

  it('promises no next run to somebody who started one by hand, and never another command than theirs', () => {
    const all = outcomes.map((outcome) => entryOf(`a.${outcome}`, outcome, { reason: 'because' }));
    const report = reportOf(all, { error: '"only" names a.c, which no policy is for' });
    const { email } = composeMessage(report, { local: true, localCommand: 'npm start -- --policies p.json --enforce' });
    const [, failed] = /THE RUN FAILED\n((?:.+\n)*)/.exec(email)!;
    expect(failed).toContain('Next: Correct that, then start the same command again.');
    expect(failed).not.toContain('npm start');
    expect(email.match(/^Next: .*/gm)!.join('\n')).not.toMatch(/the next run|by itself\. To/i);
  });

  it('never offers to cancel a reindex, nor a task whose id the search engine would not take', () => {
    const running = (changes: object) =>
      composeMessage(reportOf([entryOf('a.b', 'still-running', { taskId: 'node:1', ...changes })]), context).email;
    expect(running({})).toContain('POST _tasks/node:1/_cancel');
    expect(running({ strategy: 'reindex' })).not.toContain('_cancel');
    expect(running({ strategy: 'unknown' })).not.toContain('_cancel');
    expect(running({ taskId: '3f0c1d9e-8a55-4f0e-9a3e-0c6c5b1f2d77' })).not.toContain('_cancel');
  });

  it('gives the local runner its own command lines', () => {
    const local = { local: true, localCommand: 'npm start -- --policies p.json' };
    const { email } = composeMessage(reports.troubled, local);
    expect(email).toContain(
      'npm start -- --policies p.json --enforce --only query.queryUsageStatistics --clear query.queryUsageStatistics',
    );
    expect(email).toContain(
      'npm start -- --policies p.json --enforce --only dashboard.dashboardUsageStatistics --approve-rows 141243',
    );
    expect(email).not.toContain('aws ');
  });

  it('prints the bare input where the workflow is not known', () => {
    const { email } = composeMessage(reports.troubled, {});
    expect(email).toContain(
      '\n  {"mode":"enforce","only":["dashboard.dashboardUsageStatistics"],"approveRows":141243}\n',
    );
  });

  it('keeps names from breaking out of a command', () => {
    const entry = entryOf('x.y', 'quarantined', { aspect: "'; rm -rf ~; '`$(id)`", reason: 'closed' });
    const { email, https } = composeMessage(reportOf([entry]), context);
    const command = /--input '(.*)'$/m.exec(email)?.[1] ?? '';
    expect(command).not.toMatch(/['`]/);
    expect(JSON.parse(command)).toEqual({
      mode: 'enforce',
      only: ["x.'; rm -rf ~; '`$(id)`"],
      clear: ["x.'; rm -rf ~; '`$(id)`"],
    });
    expect(JSON.parse(https).content.description).toContain('\\u0060');
  });

  it('shows markup of names as text in Slack and calls nobody', () => {
    const entry = entryOf('x.y', 'failed', {
      aspect: '<!channel>*y*',
      reason: 'see <https://evil.example|here> & @here',
    });
    const { description } = JSON.parse(composeMessage(reportOf([entry])).https).content;
    expect(description).toContain('*x.&lt;!channel&gt; y*');
    expect(description).toContain('&lt;https://evil.example|here&gt; &amp; (at)here');
    expect(description).not.toMatch(/<[!h]/);
  });

  it('recovers on lines that can be pasted', () => {
    const { email } = composeMessage(reports.troubled, context);
    const request = /^ {2}POST \/_aliases (\{.*\})$/m.exec(email)?.[1] ?? '';
    expect(Object.keys(JSON.parse(request))).toEqual(['actions']);
    expect(email).toMatch(/^ {2}POST \/_reindex \{.*\}$/m);
  });

  it('takes out a token that it is told of, tokens that look like one, and stack traces, from every part', () => {
    const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJkYXRhaHViIn0.c2lnbmF0dXJl';
    const report = reportOf(
      [
        entryOf('a.b', 'failed', { reason: `refused hush-hush-42 Bearer ${jwt}` }),
        entryOf('a.c', 'failed', {
          reason: 'com.Boom: no\n\tat com.linkedin.metadata.Foo.bar(Foo.java:84)\n\tat x.y(Z.java:1)',
        }),
        entryOf('a.d', 'failed', { reason: 'said {"stackTrace":"x\\n\\tat com.linkedin.Foo(Foo.java:1)"}' }),
      ],
      { error: `token hush-hush-42`, notes: [`${jwt} is old`], stage: 'hush-hush-42' },
    );
    const all = JSON.stringify(composeMessage(report, { ...context, secrets: [' hush-hush-42\n'] }));
    expect(all).not.toContain('hush-hush-42');
    expect(all).not.toContain(jwt.slice(0, 30));
    expect(all).not.toMatch(/at (com|x)\./);
    expect(all).toContain('com.Boom: no');
  });

  it('shortens what does not fit from the harmless end, and says so', () => {
    const many = [
      ...Array.from({ length: 900 }, (_, at) => truncated(`dataset.harmless${at}`)),
      ...Array.from({ length: 40 }, (_, at) => entryOf(`dataset.bad${at}`, 'failed', { reason: `reason ${at}` })),
    ];
    const message = composeMessage(reportOf(many), context);
    const kept = JSON.parse(message.sqs) as Report;
    expectValid(
      message,
      many.map(({ aspect }) => `dataset.${aspect}`),
    );
    expect(kept.policies.length).toBeLessThan(many.length);
    expect(kept.policies.filter(({ outcome }) => outcome === 'failed')).toHaveLength(40);
    expect(kept.notes?.[0]).toMatch(/^Shortened to fit into one SNS message/);
    expect(kept.result).toBe('failed');
  });
});

describe('any report at all', () => {
  const secret = 'S3cr3tT0kenOfTheStage';
  const nasty = fc.constantFrom(
    secret,
    'boom\n\tat com.linkedin.restli.Foo.bar(Foo.java:84)\n\tat com.x.Y.z(Y.java:1)',
    '\u0000\u001b[2J\u202egnp',
    '<!here> & `x` *y*',
    'line\r\nSubject: spoofed',
    '\ud800',
    '\ufffe\uffff',
    "'; rm -rf / #",
    '"}],"x":{"$ref"',
    '{"approveRows": 12} "clear"',
    'POST /_aliases {"a": "}"',
    'ä漢字🦄'.repeat(400),
    '&'.repeat(3000),
  );
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    nasty,
    fc.array(nasty, { maxLength: 3 }).map((parts) => parts.join(' ')),
  );
  const count = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
  const number = fc.double({ min: 0, max: 1e12, noNaN: true });
  const time = fc.oneof(
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    text,
  );
  const entry = fc.record(
    {
      retentionDays: number,
      cutoff: time,
      cutoffMillis: count,
      outcome: fc.constantFrom(...outcomes),
      reason: text,
      strategy: text,
      rowsTotal: count,
      rowsToDelete: count,
      percent: number,
      taskId: fc.oneof(text, fc.constant('node:1')),
      rowsDeleted: count,
      rowsRemaining: count,
      rowsMissing: count,
      durationSeconds: number,
      sizeBeforeMb: number,
      sizeAfterMb: number,
      indexName: text,
      adopted: fc.boolean(),
    },
    { requiredKeys: ['outcome', 'reason'] },
  );
  const anyReport = fc.record(
    {
      version: fc.constant(1 as const),
      runId: text,
      stage: text,
      mode: fc.constantFrom('enforce' as const, 'preview' as const),
      startedAt: time,
      finishedAt: time,
      result: fc.constantFrom(...results),
      error: text,
      notes: fc.array(text, { maxLength: 30 }),
      preflight: fc.array(
        fc.record(
          {
            name: fc.constantFrom(...checkNames),
            state: fc.constantFrom('ok' as const, 'note' as const, 'failed' as const),
            text,
            remedy: text,
          },
          { requiredKeys: ['name', 'state', 'text'] },
        ),
        { maxLength: 20 },
      ),
      policies: fc
        .oneof(
          { weight: 4, arbitrary: fc.array(entry, { maxLength: 12 }) },
          { weight: 1, arbitrary: fc.array(entry, { minLength: 60, maxLength: 250 }) },
        )
        // Names of their own, so that a test can tell whether a text holds them.
        .map((entries) => entries.map((item, at) => ({ ...item, entityType: 'dataset', aspect: `policy-${at}-x` }))),
      unmanagedIndices: fc.array(
        fc.record({ indexName: text, entityType: text, aspect: text, sizeMb: number }, { requiredKeys: ['indexName'] }),
        { maxLength: 20 },
      ),
    },
    {
      requiredKeys: [
        'version',
        'runId',
        'stage',
        'mode',
        'startedAt',
        'finishedAt',
        'result',
        'policies',
        'unmanagedIndices',
      ],
    },
  );

  it('becomes a message that SNS takes, that is complete, and that holds neither token nor stack trace', () => {
    fc.assert(
      fc.property(anyReport, (report) => {
        const message = composeMessage(report as Report, { ...context, secrets: [secret] });
        expectValid(message, namesOf(report as Report));
        const all = [
          message.subject,
          messageBody(message),
          message.email,
          message.https,
          message.sqs,
          JSON.stringify(message.attributes),
        ].join('\n');
        expect(all).not.toContain(secret);
        expect(all).not.toMatch(/(\n|\\n)(\t|\\t)at com\./);
      }),
      { numRuns: 150 },
    );
  });

  it('stays valid when its names are nasty', () => {
    fc.assert(
      fc.property(text, text, fc.constantFrom(...outcomes), (entityType, aspect, outcome) => {
        const report = reportOf([entryOf('a.b', outcome, { entityType, aspect })], { stage: aspect });
        const message = composeMessage(report, { ...context, secrets: [secret] });
        expect(message.subject).toMatch(/^[\x21-\x7e][\x20-\x7e]{0,98}$/);
        expect(customNotificationSchema.safeParse(JSON.parse(message.https)).error).toBeUndefined();
        expect(reportSchema.safeParse(JSON.parse(message.sqs)).success).toBe(true);
        expect(publishedBytes(message)).toBeLessThan(262_144);
        expect(messageBody(message)).not.toContain(secret);
      }),
      { numRuns: 300 },
    );
  });
});

describe('what an enforcing run says it deleted', () => {
  const entry = (outcome: Outcome, rowsDeleted?: number) => ({
    ...(rowsDeleted !== undefined && { rowsDeleted }),
    entityType: 'dataset',
    aspect: outcome,
    outcome,
    reason: 'because',
  });
  const said = (...policies: ReturnType<typeof entry>[]) =>
    deletedSentence({ ...reports['all-well'], mode: 'enforce', policies });

  it.each<[string, string, ReturnType<typeof entry>[]]>([
    ['nothing', 'Nothing was deleted.', [entry('failed'), entry('below-threshold')]],
    ['what is proven', '500 rows deleted and verified.', [entry('truncated', 500)]],
    ['what was begun', '38,750 rows deleted by truncations, not verified.', [entry('incomplete', 38_750)]],
    [
      'both',
      '500 rows deleted and verified. 7 rows deleted by other truncations, not verified.',
      [entry('truncated', 500), entry('lost', 7)],
    ],
    ['no number that counts cannot prove', '', [entry('rows-missing', 500)]],
    ['nothing where nobody can tell', '', [entry('unknown')]],
  ])('is %s', (_, sentence, policies) => {
    expect(said(...policies)).toBe(sentence);
  });
});
