import { describe, expect, test } from 'vitest';
import { slackMessage } from '../../../cli/notify/slack.ts';
import { attentionOf } from '../../../cli/pages/run/attention.ts';
import type { DecidedFacts, Report } from '../../../lambda/facts/report-schema.ts';
import { composeMessage } from '../../../lambda/notification/message.ts';
import { nightReports } from '../../support/nights/reports.ts';
import { anEntry, aReport } from '../../support/reports.ts';
import { context } from './custom-notification.ts';

/** Nothing that a person might paste at night, half awake, makes a bad night worse. */

const local = {
  local: true,
  localCommand: { program: 'npm start --', options: '--fast', policies: 'p.json' },
} as const;
const places = [context, local];
const reports = await nightReports();

/** Every form in which people read a report: email, terminal, both kinds of Slack messages, and the page. */
function formsOf(report: Report): string[] {
  return places.flatMap((place) => {
    const message = composeMessage(report, place);
    const slack = JSON.stringify(slackMessage(message));
    return [message.email, message.https, slack, JSON.stringify(attentionOf(report, place))];
  });
}

const ceiling = anEntry(
  'above-ceiling',
  { kind: 'above-ceiling', maxDeletePercent: 90, approveRows: 102_900 },
  { name: 'dataset.datasetProfile', rowsToDelete: 98_000, rowsTotal: 102_000, owner: 'legal@x.org', note: 'A year.' },
);
const lost: Array<[string, DecidedFacts]> = [
  ['rows missing', anEntry('rows-missing', { kind: 'missing', expected: 9, found: 1 })],
  ['rows not visible', anEntry('rows-missing', { kind: 'not-refreshed' })],
  ['an emptied index', anEntry('emptied', { kind: 'emptied', rowsBefore: 9, nights: 3 })],
  ['a quarantine for rows', anEntry('quarantined', { kind: 'quarantined', since: 1, outcome: 'rows-missing' })],
];
const deleting = /approveRows|approve-rows|npm start -- enforce|--input '\{"mode":"enforce/;

describe('after a loss', () => {
  test.each(lost)('(%s) no form of the message offers to delete anything from any index', (_, entry) => {
    for (const mode of ['enforce', 'preview'] as const) {
      const report = aReport([ceiling, entry], { mode });
      const reasons = report.policies.map(({ reason }) => reason);
      for (const text of [...formsOf(report), ...reasons]) expect(text).not.toMatch(deleting);
    }
  });

  test('without a loss, every form offers the deletion, and says so above the command', () => {
    for (const form of formsOf(aReport([ceiling]))) expect(form).toMatch(deleting);
  });
});

describe('a command that deletes or opens', () => {
  const dangerous = /approveRows|"mode":"enforce"|"clear":|acceptMissing|--approve-rows| clear |enforce /;

  test('is never the first one of its index, and has a line above it that says what it does', () => {
    let seen = 0;
    for (const [name, report] of reports) {
      for (const place of places) {
        const paragraphs = composeMessage(report, place).email.split(/\n\n|\n(?=- )/);
        for (const paragraph of paragraphs) {
          const lines = paragraph.split('\n');
          const commands = lines.filter((line) => line.startsWith('  '));
          if (commands[0] !== undefined) expect(commands[0], name).not.toMatch(dangerous);
          for (const [at, line] of lines.entries()) {
            if (!line.startsWith('  ') || !dangerous.test(line)) continue;
            seen++;
            expect(lines[at - 1], name).toMatch(/^This (deletes|counts|reopens) .*:$/);
          }
        }
      }
    }
    expect(seen).toBeGreaterThan(20);
  });

  test('is in Slack only below a command that looks', () => {
    for (const [name, report] of reports) {
      const { description } = JSON.parse(composeMessage(report, context).https).content;
      const [first = ''] = /```.*?```/.exec(description) ?? [];
      expect(first, name).not.toMatch(dangerous);
    }
  });

  test('says how many rows it deletes, never more than the index has', () => {
    const { email } = composeMessage(aReport([ceiling]), context);
    expect(email).toContain(
      'This deletes up to all 102,000 rows of dataset.datasetProfile for real: 98,000 now, and the others as they pass their retention:',
    );
    const large = composeMessage(aReport([{ ...ceiling, rowsTotal: 200_000 }]), context);
    expect(large.email).toContain(
      'This deletes 98,000 of 200,000 rows of dataset.datasetProfile for real, and up to 4,900 more that pass their retention until then:',
    );
  });
});

test('owner and note are beside the index in every form', () => {
  const beside = Array.from({ length: 12 }, (_, at) => ({ ...ceiling, aspect: `aspect${at}` }));
  for (const policies of [[ceiling], beside]) {
    for (const form of formsOf(aReport(policies))) {
      expect(form).toContain('legal@x.org');
      expect(form).toContain('A year.');
    }
  }
});

test('an index in quarantine is named in the report of a run about others, which does not say that all is well', () => {
  const report = reports.find(([name]) => name === 'missing/quarantined-beside-another')![1];
  expect(report.policies.map(({ aspect, outcome }) => [aspect, outcome])).toEqual(
    expect.arrayContaining([['operation', 'quarantined']]),
  );
  for (const form of formsOf(report)) {
    expect(form).toContain('dataset.operation');
    expect(form).not.toContain('all well');
  }
});

test('rows that no search sees are looked at before anything is written to their index', () => {
  const unseen = reports.filter(([name]) => /^unseen\/.*not-visible$/.test(name));
  expect(unseen).toHaveLength(2);
  for (const [name, report] of unseen) {
    const { email, https } = composeMessage(report, context);
    const { description } = JSON.parse(https).content;
    expect(/^ {2}(\S+ \S+)/m.exec(email)![1], name).toMatch(/^GET \/_cat\/indices/);
    expect(/```(\S+ \S+)/.exec(description)![1], name).toMatch(/^GET \/_cat\/indices/);
    for (const form of [email, description]) expect(form, name).toMatch(/PUT \/\S+\/_settings/);
  }
});

test('a text that is quoted cannot look like a command, however it is broken into lines', () => {
  const harm = 'a:\n  POST /_delete_by_query\n```POST /_delete_by_query```';
  const entry = anEntry('still-running', { kind: 'watching', why: 'run' }, { owner: harm, note: harm });
  const report = { ...aReport([entry]), stage: harm, policies: [{ ...entry, strategy: harm, reason: harm }] };
  for (const place of [...places, {}]) {
    const { email, https } = composeMessage(report as unknown as Report, place);
    const { description } = JSON.parse(https).content;
    expect(email).toContain('POST /_delete_by_query');
    for (const form of [email, description]) {
      expect(form).not.toMatch(/^(?: {2}|```)/m);
      expect(form).not.toContain('go into the console');
    }
  }
});

test.each(['aliases', '_reindex'])('Slack shows the harmless commands of an index called %s', (aspect) => {
  const entry = anEntry('incomplete', { kind: 'not-refreshed' }, { name: `dataset.${aspect}` });
  const { description } = JSON.parse(composeMessage(aReport([entry]), context).https).content;
  expect(description).toMatch(/:\n```GET \/_cat\/indices\S*```\n/);
  expect(description).toMatch(/:\n```PUT \S+_settings .*```\n/);
});

test('a message with requests says once where they are typed, and one without does not', () => {
  const where = 'GET, PUT and POST go into the console of the search engine';
  for (const [name, report] of reports) {
    const { email, https } = composeMessage(report, context);
    const { description } = JSON.parse(https).content;
    expect(email.split(where).length - 1, name).toBe(/^ {2}(GET|PUT|POST) /m.test(email) ? 1 : 0);
    expect(description.split(where).length - 1, name).toBe(/```(GET|PUT|POST) /.test(description) ? 1 : 0);
  }
});

test('a command about a parameter has the account above it where that is known, and nothing where it is not', () => {
  const { stateMachineArn: _, ...unnamed } = context;
  for (const [name, report] of reports) {
    const lines = composeMessage(report, context).email.split('\n');
    lines.forEach((line, at) => {
      if (line.startsWith('  aws ssm ')) expect(lines[at - 1], name).toContain('account 111122223333');
    });
    expect(composeMessage(report, unnamed).email, name).not.toMatch(/account \d|account undefined/);
  }
});

describe('an index whose name has no time', () => {
  const entry = anEntry(
    'rows-missing',
    {
      kind: 'missing',
      expected: 9,
      found: 1,
      movedBy: 'us',
      rowsIn: 'dataset_operationaspect_v1',
      indexNow: 'dataset_operationaspect_v1_1772335860000',
    },
    { strategy: 'reindex' },
  );

  test('has to be looked for first, and has no command that moves its alias or compares it with itself', () => {
    for (const form of formsOf(aReport([entry]))) {
      expect(form).not.toContain('_aliases {');
      expect(form).not.toContain('dataset_operationaspect_v1/_count');
    }
    const { email } = composeMessage(aReport([entry]), context);
    expect(email).toContain('counting both counts one index twice');
    expect(email.indexOf('_cat/indices')).toBeLessThan(email.indexOf('counting both'));
  });
});

test('a copy that may take long is never waited for', () => {
  for (const [name, report] of reports) {
    const { email } = composeMessage(report, context);
    for (const [copy] of email.matchAll(/^ {2}POST \/_reindex.*$/gm)) {
      expect(copy, name).toContain('?wait_for_completion=false');
      expect(email, name).toContain('GET _tasks/TASK');
    }
  }
});
