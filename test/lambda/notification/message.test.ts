import { describe, expect, test } from 'vitest';
import { causeKinds } from '../../../lambda/facts/cause.ts';
import type { ToldNote } from '../../../lambda/facts/note.ts';
import { type Outcome, outcomes, resultOf } from '../../../lambda/facts/outcomes.ts';
import type { PolicyEntry, Report } from '../../../lambda/facts/report-schema.ts';
import { type ComposedMessage, composeMessage } from '../../../lambda/notification/message.ts';
import { nightReports } from '../../support/nights/reports.ts';
import { anEntry, aReport } from '../../support/reports.ts';
import { context } from './custom-notification.ts';
import { ofEntries } from './next/cases.ts';
import { expectValid } from './what-sns-takes.ts';

/** Rules that every message follows; the messages themselves are in golden/. */

const goldens = await nightReports();
const golden = Object.fromEntries(goldens);
const namesOf = (report: Report) => report.policies.map(({ entityType, aspect }) => `${entityType}.${aspect}`);
const descriptionOf = ({ https }: ComposedMessage): string => JSON.parse(https).content.description;
const truncated = (name: string) =>
  anEntry('truncated', { kind: 'verified', by: 'counts' }, { name, rowsDeleted: 1_200_034, rowsRemaining: 0 });
const below = (name: string) =>
  anEntry('below-threshold', { kind: 'below-threshold', minDeletePercent: 10 }, { name, rowsTotal: 1000 });

describe('disk space after a truncation', () => {
  const deleted = (rowsDeleted: number, more: Parameters<typeof anEntry>[2] = {}) =>
    anEntry(
      'truncated',
      { kind: 'verified', by: 'counts' },
      {
        name: 'dataset.operation',
        strategy: 'delete-by-query',
        indexName: 'prod_dataset_operationaspect_v1_1_7_0-0_1754300000000',
        rowsDeleted,
        rowsTotal: 1000,
        ...more,
      },
    );
  const mailOf = (...entries: ReturnType<typeof deleted>[]) => composeMessage(aReport(entries), context).email;
  const request = 'POST /prod_dataset_operationaspect_v1/_forcemerge?only_expunge_deletes=true';

  test('is asked for where more than half of an index was deleted, by its alias', () => {
    expect(mailOf(deleted(501))).toContain(request);
    expect(mailOf(deleted(500))).not.toContain('_forcemerge');
  });

  test('is not asked for after a reindex, which leaves nothing deleted behind', () => {
    expect(mailOf(deleted(900, { strategy: 'reindex' }))).not.toContain('_forcemerge');
  });

  test('is not asked for in a message that asks for something else', () => {
    const held = anEntry('in-flight', { kind: 'held', state: 'running' }, { name: 'dataset.datasetProfile' });
    const mail = mailOf(deleted(900), held);
    expect(mail).not.toContain('_forcemerge');
    expect(mail).toContain('Disk space comes back');
  });
});

describe('the message of a real run', () => {
  test('names one cause once', () => {
    for (const [name, report] of goldens) {
      const { email } = composeMessage(report, context);
      const sentences = email
        .split('\n')
        .filter((line) => line.length > 60 && !line.startsWith('  ') && !/^(Next|More|Make visible|This )/.test(line));
      const twice = sentences.filter((line, at) => sentences.indexOf(line) !== at);
      // The way back sends the same request twice, and two indices may be closed for one reason each.
      expect(
        twice.filter((line) => !/refresh|rows are older|searches|hangs|Its task/.test(line)),
        name,
      ).toEqual([]);
    }
  });

  test('covers every outcome and most causes; the other causes are tested as single sentences', () => {
    const entries = goldens.flatMap(([, { policies }]) => policies);
    const seen = new Set(entries.map(({ outcome }) => outcome));
    expect(outcomes.filter((outcome) => !seen.has(outcome))).toEqual([]);
    const kinds = new Set([...entries, ...goldens.map(([, report]) => report)].map(({ cause }) => cause?.kind));
    expect(causeKinds.filter((kind) => kinds.has(kind)).length).toBeGreaterThan(25);
  });
});

describe('a message', () => {
  /** Whether the cause is reported with another entry, or with the run's error. */
  const isToldWithAnother = ({ cause }: PolicyEntry): boolean =>
    cause.kind === 'run-error' ||
    (cause.kind === 'foreign' && cause.deployed === true) ||
    (cause.kind === 'stopped' && (cause.by === 'breaker' || cause.by === 'no-task-ids'));

  test.each(outcomes)('has a sentence and, if a person is needed, a next step: %s', (outcome) => {
    const report = goldens
      .map(([, one]) => one)
      .find(({ policies }) => policies.some((entry) => entry.outcome === outcome && !isToldWithAnother(entry)));
    if (!report) throw new Error(`no golden night ends as ${outcome}`);
    const entries = report.policies
      .filter((entry) => entry.outcome === outcome && !isToldWithAnother(entry))
      .slice(0, 1);
    const { email } = composeMessage({ ...report, policies: entries, mode: 'enforce' }, context);
    expect(email).toMatch(/\w+\.\w+: \S.*\.\n/);
    if (resultOf[outcome] !== 'ok') expect(email).toMatch(/\nNext: \w|\nFind out what else/);
  });

  test('begins with the result and goes on with the worst problem', () => {
    const { email } = composeMessage(golden['missing/rows-missing-by-others']!, context);
    expect(email).toMatch(
      /^prod \(gms\.internal\.example\.com:8080\): ROWS MISSING in dataset\.operation, 1 more\. 9,000 rows deleted, not verified\.\nHow urgent: act before any DataHub upgrade\.\n\nNEEDS ATTENTION\n\ndataset\.operation: /,
    );
    expect(email.indexOf('4,500 ROWS MISSING')).toBeLessThan(email.indexOf('due, but not started'));
  });

  test('has a siren in Slack only where it says to act, and a calm heading where nothing is to be done', () => {
    for (const [name, report] of goldens) {
      const { email, https } = composeMessage(report, context);
      expect(/^:rotating_light:/.test(JSON.parse(https).content.title), name).toBe(email.includes('How urgent: act '));
      if (email.includes('How urgent: nothing to do')) expect(email, name).not.toContain('NEEDS ATTENTION');
    }
    expect(composeMessage(golden['gateways/too-slow']!, context).email).toContain('\nFOR INFORMATION\n');
  });

  test('says PREVIEW in the subject and at the top', () => {
    const { subject, email, https } = composeMessage(golden['previews/preview']!, context);
    expect(subject).toMatch(/^\[DataHub retention\] PREVIEW /);
    expect(email).toMatch(/^PREVIEW/);
    const { title, description } = JSON.parse(https).content;
    expect(title).toContain('PREVIEW');
    expect(description).toMatch(/^\*PREVIEW/);
    expect(email).not.toContain('deleted and verified');
  });

  test('of a preview says how to switch on, or what comes next if the stage enforces already', () => {
    const { email } = composeMessage(golden['previews/preview']!, context);
    expect(email).toContain('set "mode": "enforce" in infra/stages/prod.json');
    const byHand = composeMessage(golden['held-back/held-by-another-run']!, { ...context, enforces: true });
    expect(byHand.email).toContain('WHAT COMES NEXT\nThis stage enforces');
    expect(byHand.email).not.toContain('infra/stages');
  });

  test('of a failed run offers a preview, and never to enforce', () => {
    for (const [name, report] of goldens.filter(([name]) => name.startsWith('run-errors/'))) {
      const { email } = composeMessage(report, context);
      expect(email, name).not.toContain('"mode":"enforce"');
    }
    expect(composeMessage(golden['run-errors/server-down']!, context).email).toContain('{"mode":"preview"}');
  });

  test('puts policies that failed because of the run under its error, and counts them nowhere else', () => {
    const { subject, email } = composeMessage(golden['run-errors/token-refused']!, context);
    expect(subject).toBe('[DataHub retention] prod: RUN FAILED (token refused)');
    expect(email).toMatch(/Not looked at because of this: dataset\.aspect01, .* and 36 more\./);
    expect(email).not.toContain('NEEDS ATTENTION');
    expect(email.split('\n').length).toBeLessThan(16);
  });

  test('puts forty similar indices into one line with a total', () => {
    const quiet = Array.from({ length: 40 }, (_, at) => below(`dataset.quiet${at}`));
    const { email } = composeMessage(aReport([truncated('dataset.operation'), ...quiet]), context);
    expect(email).toMatch(/\n- 40 indices below the threshold, 40,000 rows in all: .* and 28 more\.\n/);
  });

  test('names indices that do not exist together, although the server names each', () => {
    const mistyped = (name: string) => {
      const error = { kind: 'no-index', operation: 'dry-run', status: 400, text: `no such index ${name}` } as const;
      return anEntry('failed', { kind: 'server', error, sent: 'no' }, { name });
    };
    const { email } = composeMessage(aReport([mistyped('dataset.one'), mistyped('dataset.other')]), context);
    expect(email).toContain('dataset.one, dataset.other: failed');
  });

  test('does not repeat a refused read of sizes as a note', () => {
    expect(composeMessage(golden['gateways/login-page']!, context).email).not.toContain('TO KNOW');
  });

  test('brings rows back before it opens their index, also where clearing was refused', () => {
    for (const name of [
      'missing/rows-missing-after-a-reindex',
      'missing/quarantined-next-night',
      'clearing/clear-not-released',
    ]) {
      const { email } = composeMessage(golden[name]!, context);
      const [deadline, way, opens] = ['Run no DataHub upgrade', 'POST /_aliases', '"clear":'].map((part) =>
        email.indexOf(part),
      );
      expect(deadline, name).toBeGreaterThan(0);
      expect(way, name).toBeGreaterThan(deadline!);
      expect(opens, name).toBeGreaterThan(way!);
    }
  });

  test('in Slack opens no index and moves no alias: it leads to the runbook', () => {
    for (const [name, report] of goldens) {
      expect(descriptionOf(composeMessage(report, context)), name).not.toMatch(/"clear"|_aliases|_reindex/);
    }
    const missing = descriptionOf(composeMessage(golden['missing/quarantined-next-night']!, context));
    expect(missing).toContain('<https://example.com/docs/runbook.md#outcome-quarantined|Runbook>');
    const nowhere = descriptionOf(composeMessage(golden['missing/quarantined-next-night']!, {}));
    expect(nowhere).toContain('Pause this job and datahub-gc');
  });

  test('in Slack says when its run began, as the mail does', () => {
    const message = composeMessage(golden['unresolved/hangs']!, context);
    for (const form of [message.email, descriptionOf(message)])
      expect(form).toContain('Run run-1, 1 Mar 2026, 03:30 UTC, took 2 h 1 min.');
  });

  test('repeats a link once for each outcome', () => {
    const { email } = composeMessage(golden['held-back/above-ceiling']!, context);
    expect(email.match(/#outcome-above-ceiling/g)).toHaveLength(1);
  });

  test('names owner and note of a policy beside its problem', () => {
    const cause = { kind: 'paused' } as const;
    const report = aReport([
      anEntry('not-started', cause, { name: 'a.a', owner: 'team-a', note: 'Ask first' }),
      anEntry('not-started', cause, { name: 'b.b', owner: 'team-b' }),
    ]);
    const { email } = composeMessage(report, context);
    expect(email).toContain('a.a, b.b: due, but not started');
    expect(email).toContain('\nOwner of a.a: team-a.\nNote of a.a: Ask first.\nOwner of b.b: team-b.\n');
  });

  test('removes known tokens, texts that look like tokens, and stack traces from every part', () => {
    const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJkYXRhaHViIn0.c2lnbmF0dXJl';
    const policy = (name: string, problem: string) => anEntry('failed', { kind: 'policy', problem: problem }, { name });
    const report = aReport(
      [
        policy('a.b', `refused hush-hush-42 Bearer ${jwt}`),
        policy('a.c', 'com.Boom: no\n\tat com.linkedin.metadata.Foo.bar(Foo.java:84)\n\tat x.y(Z.java:1)'),
        policy('a.d', 'said {"stackTrace":"x\\n\\tat com.linkedin.Foo(Foo.java:1)"}'),
      ],
      {
        cause: { kind: 'parameters', problem: 'token hush-hush-42' },
        notes: [{ kind: 'memory-unavailable', problem: `${jwt} is old` }],
        stage: 'hush-hush-42',
      },
    );
    const all = JSON.stringify(composeMessage(report, { ...context, secrets: [' hush-hush-42\n'] }));
    expect(all).not.toContain('hush-hush-42');
    expect(all).not.toContain(jwt.slice(0, 30));
    expect(all).not.toMatch(/at (com|x)\./);
    expect(all).toContain('com.Boom: no');
  });

  test('shows markup in names as text in Slack, and mentions no channel or user', () => {
    const entry = {
      ...anEntry('failed', { kind: 'policy', problem: 'see <https://evil.example|here> & @here' }),
      aspect: '<!channel>*y*',
    };
    const description = descriptionOf(composeMessage(aReport([entry])));
    expect(description).toContain('*dataset.&lt;!channel&gt; y*');
    expect(description).toContain('&lt;https://evil.example|here&gt; &amp; (at)here');
    expect(description).not.toMatch(/<[!h]/);
  });

  test('shortens from the harmless end if it does not fit, and says so', () => {
    const many = [
      ...Array.from({ length: 900 }, (_, at) => truncated(`dataset.harmless${at}-x`)),
      ...Array.from({ length: 40 }, (_, at) =>
        anEntry('failed', { kind: 'policy', problem: `reason ${at}` }, { name: `dataset.bad${at}-x` }),
      ),
    ];
    const report = aReport(many);
    const message = composeMessage(report, context);
    const kept = JSON.parse(message.default) as Report;
    expectValid(message, namesOf(report));
    expect(kept.policies.length).toBeLessThan(many.length);
    expect(kept.policies.filter(({ outcome }) => outcome === 'failed')).toHaveLength(40);
    expect(kept.notes?.[0]).toMatchObject({
      kind: 'shortened',
      of: 940,
      text: expect.stringMatching(/^Shortened to fit into one message/),
    });
    expect(kept.result).toBe('failed');
  });
});

describe('the preflight of a preview', () => {
  test('is one line where all is well', () => {
    const message = composeMessage(golden['previews/preview']!, context);
    expect(message.email.split('\n')).toContain(
      'Preflight: address, DNS, connection, token (expires in 80 days), sizes, truncation, task status, clock: all well.',
    );
    expect(descriptionOf(message)).toContain('Preflight: all well.');
  });

  test('lists every failed check with its remedy, and does not say "all well"', () => {
    const {
      subject,
      email,
      https,
      default: json,
    } = composeMessage(golden['previews/preview-without-privileges']!, context);
    expect(subject).toMatch(/: 2 would be truncated, 2 checks failed$/);
    expect(email).toMatch(
      /\nPREFLIGHT\n- Sizes FAILED: .*Runs can do without.*\n- Task status FAILED: .*\n- Well: address/,
    );
    expect(email).not.toContain('all well');
    expect(JSON.parse(https).content.description).toMatch(/Preflight, \*Sizes FAILED\*: .*\n.*\*Task status FAILED\*/);
    expect(JSON.parse(json)).toMatchObject({ result: 'ok', preflight: { length: 8 } });
  });

  test('does not repeat what the error of the run says', () => {
    const { email } = composeMessage(golden['previews/preview-without-server']!, context);
    expect(email).toContain('- Connection FAILED: see below. Check that the server is up');
    expect(email).not.toContain('security group');
    expect(email.match(/o connection to gms/g)).toHaveLength(1);
  });

  test('gives the command for a new token once, whether a check, a note or the error of the run asks for it', () => {
    const refused: Report = {
      ...golden['run-errors/token-refused']!,
      mode: 'preview',
      preflight: golden['previews/preview-with-an-old-token']!.preflight!,
    };
    for (const report of [golden['previews/preview-with-an-old-token']!, refused]) {
      const { email } = composeMessage(report, context);
      expect(email.match(/put-parameter/g)).toHaveLength(1);
      expect(email).not.toContain('TO KNOW');
    }
  });

  test('is not called well if the server could not be asked', () => {
    const { preflight = [], ...report } = golden['previews/preview']!;
    const message = composeMessage({ ...report, preflight: preflight.slice(0, 2) }, context);
    expect(message.email).toContain('Preflight: address, DNS: well; the server was not asked.');
  });
});

describe('a subject', () => {
  const of = (...entries: Parameters<typeof aReport>[0]) => composeMessage(aReport(entries)).subject;

  test('that is too long loses its details, and nothing of a name, whatever is in it', () => {
    const long = anEntry('failed', { kind: 'policy', problem: 'x' }, { name: `dataset.a (b)${'c'.repeat(50)}` });
    expect(of(long)).toBe(`[DataHub retention] prod: failed in dataset.a (b)${'c'.repeat(50)}`);
    const other = anEntry('failed', { kind: 'policy', problem: 'x' }, { name: `dataset.${'c'.repeat(45)}` });
    expect(composeMessage(aReport([other], { stage: 'eu (two)' })).subject).toBe(
      `[DataHub retention] eu (two): failed in dataset.${'c'.repeat(45)}`,
    );
  });
  const ceiling = anEntry('above-ceiling', { kind: 'above-ceiling', approveRows: 5 });

  test('says first what is missing and where, then what was truncated', () => {
    expect(
      of(
        anEntry('rows-missing', { kind: 'missing', expected: 9, found: 1 }),
        truncated('a.a'),
        truncated('b.b'),
        ceiling,
      ),
    ).toBe('[DataHub retention] prod: ROWS MISSING in dataset.operation, 1 more, 2 truncated');
  });

  test('names the worst index, and counts the others', () => {
    const failed = (name: string) => anEntry('failed', { kind: 'changed', what: 'rows' }, { name });
    const lost = anEntry('unknown', { kind: 'unsettled', why: 'still', vanished: true });
    expect(of(failed('a.a'), failed('b.b'), lost)).toBe(
      '[DataHub retention] prod: truncation unclear in dataset.operation (task vanished), 2 more',
    );
  });

  test.each(['dataset.operation', 'dashboard.dashboardUsageStatistics'])(
    'of the second night is not that of the first, whatever happened to %s',
    (name) => {
      const since = '2026-08-13T03:30:00.000Z';
      for (const [outcome, cause, more] of ofEntries) {
        const first = of(anEntry(outcome, cause, { ...more, name }), truncated('a.a'));
        // A quarantine has its own date.
        const dated = cause.kind === 'quarantined' ? { ...cause, since: Date.parse(since) } : cause;
        const second = of(anEntry(outcome, dated, { ...more, name, since }), truncated('a.a'));
        expect(second, outcome).toContain('second night');
        expect(first).not.toContain('night');
        expect(second).toContain(name);
      }
    },
  );

  test('does not call invisible rows missing', () => {
    expect(composeMessage(golden['unseen/copied-but-not-visible']!).subject).toBe(
      '[DataHub retention] prod: ROWS NOT VISIBLE in dataset.operation',
    );
  });

  test('warns of a token that expires even when all is well', () => {
    expect(composeMessage(golden['ordinary/with-notes']!).subject).toBe(
      '[DataHub retention] prod: 1 truncated, renew the token, index sizes: privilege missing',
    );
  });

  test('asks for no new token if a privilege is missing', () => {
    const note = {
      kind: 'no-sizes',
      error: { kind: 'privilege', operation: 'index-sizes', status: 403, text: 'token' },
    } as const;
    expect(composeMessage(aReport([truncated('a.b')], { notes: [note] })).subject).toBe(
      '[DataHub retention] prod: 1 truncated, index sizes: privilege missing',
    );
  });
});

describe('what an enforcing run says it deleted', () => {
  const entry = (outcome: Outcome, rowsDeleted?: number, strategy = 'delete-by-query') =>
    anEntry(
      outcome,
      { kind: 'run-error' },
      { name: `dataset.${outcome}`, strategy, ...(rowsDeleted !== undefined && { rowsDeleted }) },
    );
  const said = (...policies: ReturnType<typeof entry>[]) =>
    descriptionOf(composeMessage(aReport(policies))).split('\n')[0]!;

  test.each<[string, string, ReturnType<typeof entry>[]]>([
    ['nothing', 'Nothing was deleted.', [entry('failed'), entry('below-threshold')]],
    ['what is proven', '500 rows deleted and verified.', [entry('truncated', 500)]],
    [
      'what its own task deleted, where others were faster',
      '3 rows deleted and verified.',
      [
        anEntry(
          'truncated',
          { kind: 'verified', by: 'counts', conflicts: 5997, done: 3, total: 6000 },
          { rowsDeleted: 6000 },
        ),
      ],
    ],
    ['that no row is seen to be gone', 'As far as counted, no row was deleted.', [entry('unknown', 0)]],
    [
      'nothing, of what went between two runs',
      'This run deleted nothing.',
      [anEntry('rows-missing', { kind: 'missing', expected: 9, found: 1, since: 1 }, { rowsDeleted: 5 })],
    ],
    ['what was begun', '38,750 rows deleted, not verified.', [entry('incomplete', 38_750)]],
    [
      'both',
      '500 rows deleted and verified. Another 7 rows deleted, not verified.',
      [entry('truncated', 500), entry('unknown', 7)],
    ],
  ])('is %s', (_, sentence, policies) => {
    expect(said(...policies)).toBe(sentence);
  });

  test.each([
    ['that counts cannot prove', entry('rows-missing', 500)],
    ['that is that of a reindex, whose alias has moved', entry('unknown', 500, 'reindex')],
    ['where nobody can tell', entry('unknown')],
    [
      'that may be in another index',
      anEntry('unknown', { kind: 'unsettled', why: 'still', copied: true }, { rowsDeleted: 5 }),
    ],
    ['of an index that is gone', anEntry('rows-missing', { kind: 'missing', expected: 9, found: 0, indexGone: true })],
  ])('is no number %s', (_, policy) => {
    expect(said(policy)).not.toMatch(/\d/);
    expect(said(policy)).toMatch(
      /^How many rows were deleted is not known\.$|^The truncation is a copy, which deletes no row of the old index\.$/,
    );
  });
});

test('an unknown stage, run and note of a later version still make a message', () => {
  const report = {
    ...golden['ordinary/healthy']!,
    stage: '\u202e',
    runId: '',
    notes: [{ kind: 'later', text: 'Something new.' } as unknown as ToldNote],
  };
  expect(composeMessage(report, context).email).toContain('- Something new.');
});
