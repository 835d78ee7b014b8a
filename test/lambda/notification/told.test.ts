import { describe, expect, test } from 'vitest';
import type { DecidedFacts, Report } from '../../../lambda/facts/report-schema.ts';
import { composeMessage } from '../../../lambda/notification/message.ts';
import { isQuiet } from '../../../lambda/notification/quiet.ts';
import { recovery } from '../../../lambda/wording/recovery.ts';
import { nightReports } from '../../support/nights/reports.ts';
import { anEntry, aReport } from '../../support/reports.ts';
import { context } from './custom-notification.ts';

/** A night must be reported in every form: what email and Slack say of it, side by side. */

const nights = new Map(await nightReports());
const night = (name: string): Report => {
  const report = nights.get(name);
  if (!report) throw new Error(`no night is called ${name}`);
  return report;
};

/** What a person reads: the subject and text of an email; the title, description and next steps in Slack. */
function forms(report: Report): Array<['email' | 'slack', string]> {
  const { subject, email, https } = composeMessage(report, context);
  const { title, description, nextSteps = [] } = JSON.parse(https).content;
  return [
    ['email', `${subject}\n${email}`],
    ['slack', [title, description, ...nextSteps].join('\n')],
  ];
}

const moved = {
  rowsIn: 'dataset_operationaspect_v1_1753500600000',
  indexBefore: 'dataset_operationaspect_v1_1753500600000',
  indexNow: 'dataset_operationaspect_v1_1772335860000',
} as const;

describe('rows that were deleted', () => {
  const deleted = anEntry('emptied', {
    kind: 'emptied',
    rowsBefore: 9,
    nights: 3,
    indexBefore: moved.indexNow,
    indexNow: moved.indexNow,
  });
  const gone = anEntry('rows-missing', { kind: 'missing', expected: 9, found: 0, indexGone: true });
  const copied = anEntry('emptied', { kind: 'emptied', rowsBefore: 9, nights: 3, ...moved }, { name: 'chart.x' });
  const deadline = anEntry(
    'rows-missing',
    { kind: 'missing', expected: 9, found: 0, ...moved, deadline: Date.UTC(2026, 8, 24) },
    { name: 'chart.y' },
  );

  test.each([deleted, gone])('are in snapshots alone: no upgrade takes them ($outcome)', (entry) => {
    for (const [, form] of forms(aReport([entry]))) {
      expect(form).toContain('How urgent: act before the snapshots with the rows expire.');
      expect(form).not.toContain('upgrade');
    }
  });

  test('are less urgent than those in an index that an upgrade deletes, at any time or from some day on', () => {
    const urgencyOf = (...entries: DecidedFacts[]) => / act before [^.]*/.exec(forms(aReport(entries))[0]![1])![0];
    expect(urgencyOf(deleted, copied, deadline)).toBe(' act before any DataHub upgrade');
    expect(urgencyOf(gone, deadline)).toBe(' act before 24 Sep 2026');
    expect(urgencyOf(deleted, { ...gone, aspect: 'other' })).toBe(' act before the snapshots with the rows expire');
  });
});

describe('a new address in the middle of a run', () => {
  const cause = {
    kind: 'foreign',
    why: 'address',
    address: 'http://a',
    ourAddress: 'http://b',
    deployed: true,
  } as const;
  const watched = anEntry('still-running', { kind: 'watching', why: 'other-version' });
  const idle = anEntry('not-started', { kind: 'foreign', why: 'address', deployed: true });

  test('asks for the old one where something was started under it, and never says that it is watched', () => {
    for (const [, form] of forms(aReport([watched, idle], { cause }))) {
      expect(form).toContain('How urgent: this week.');
      expect(form).toContain('put the old one back until it has ended');
      expect(form).not.toContain('goes on watching');
    }
  });

  test('asks for nothing where nothing was started', () => {
    for (const [, form] of forms(aReport([idle], { cause }))) {
      expect(form).toContain('How urgent: nothing to do.');
      expect(form).toContain('Nothing, the next run uses the new address.');
    }
  });

  test('is not a new version, after which the next run goes on', () => {
    const [[, form]] = forms(aReport([watched], { cause: { kind: 'foreign', why: 'version', deployed: true } })) as [
      [string, string],
    ];
    expect(form.match(/Nothing, the next run goes on watching\./g)).toHaveLength(2);
  });
});

describe('lost rows are reported', () => {
  const copied = night('ordinary/reindex-proven');
  const short = aReport([
    anEntry('truncated', { kind: 'verified', by: 'proof' }, { strategy: 'reindex', rowsDeleted: 9, rowsMissing: 3 }),
  ]);

  test.each(forms(copied))('%s: rows that a proven copy left behind, and how to bring them over', (_, form) => {
    expect(form).toContain('rows may be left behind in dataset.operation');
    expect(form).toContain('How urgent: when you next change something.');
    expect(form).toMatch(/may be in dataset_operationaspect_v1_\d+ alone, and no count can see them/);
    expect(form).toContain('bring them over');
  });

  test.each(forms(short))('%s: rows that a proven copy did not bring, by their number', (_, form) => {
    expect(form).toContain('rows may be left behind in dataset.operation');
    expect(form).toContain('3 rows newer than the cutoff are gone as well');
  });

  test.each([copied, short, night('clearing/clear-accepted'), night('missing/quarantined-next-night')])(
    'to subscribers of problems, too (%#)',
    (report) => {
      expect(isQuiet(report)).toBe(false);
    },
  );

  test.each(forms(night('clearing/clear-released')))('%s: what clearing could not count', (_, form) => {
    expect(form).toContain('rows that no search could see then (written seconds before a copy began) are in no count');
    expect(form).not.toContain('All rows that should be there are there');
  });
});

describe('the runbook, the mail and Slack have the same steps in the same order', () => {
  const lost = [...nights].filter(([, { policies, finishedAt }]) =>
    policies.some((entry) => recovery(entry, Date.parse(finishedAt)).some(({ say }) => say.startsWith('Pause'))),
  );

  test('there are such nights', () => {
    expect(lost.length).toBeGreaterThan(5);
  });

  test.each(lost)('%s: first the pause, then the look, then what copies', (_, report) => {
    const [[, email], [, slack]] = forms(report) as [[string, string], [string, string]];
    const at = ['Pause this job and datahub-gc', '_cat/indices', '_tasks?actions=', '_reindex', '"clear"'].map((part) =>
      email.indexOf(part),
    );
    const found = at.filter((position) => position >= 0);
    expect(found).toEqual([...found].sort((one, other) => one - other));
    expect(found.length).toBeGreaterThan(2);
    expect(slack).toMatch(/Pause this job and datahub-gc.*:\n```aws ssm put-parameter .*--value true/);
    expect(slack).toContain('What comes then, in its order, is in the runbook');
    expect(slack).not.toMatch(/_aliases|_reindex|"clear"/);
  });

  test.each(forms(night('unresolved/unknown-and-breaker')))(
    '%s: an unproven loss is looked at first, and nothing is paused for it',
    (_, form) => {
      expect(form).toContain('GET /dataset_operationaspect_v1_1753500600000/_count');
      expect(form).not.toContain('Pause this job');
    },
  );
});

describe('a remedy', () => {
  const problem = 'AccessDeniedException: the Plan function needs dynamodb:Query';

  test.each(forms(aReport([], { cause: { kind: 'ledger', problem } })))(
    '%s: a missing permission has to be granted, and does not pass by itself',
    (_, form) => {
      expect(form).toContain('How urgent: this week.');
      expect(form).toContain('Where access is denied, deploy the stage again');
      expect(form).not.toContain('Nothing, the next run tries again');
    },
  );
});
