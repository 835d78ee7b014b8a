import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectionOf } from '../../../cli/commands/validate.ts';
import { policiesFile, readPolicies } from '../../../cli/inputs/policies.ts';
import { folder } from '../processes.ts';
import { problemOf } from './problem.ts';

const file = (text: string, name = 'policies.json'): string => folder().write(name, text);

const linesOf = (path: string, text: string): string[] => text.replaceAll(`${dirname(path)}/`, '').split('\n');
const mistakesIn = (path: string): string[] =>
  linesOf(
    path,
    problemOf(() => inspectionOf(path)),
  );

const policy = '{ "entityType": "dataset", "aspect": "operation", "retentionDays": 90 }';

describe('validate', () => {
  it.each([
    ['a list', `[${policy}]`],
    ['an object with a schema for editors', `{ "$schema": "policies.schema.json", "policies": [${policy}] }`],
    ['comments', `// agreed with the data platform\n[\n  /* 90 days */ ${policy} // since 2026\n]`],
    ['an owner and a note', `[${policy.replace('}', ', "owner": "data-platform", "note": "audit needs 90 days" }')}]`],
  ])('finds no mistake in policies with %s, and a run takes the same file', (_, text) => {
    const path = file(text);
    expect(inspectionOf(path).lines).toEqual([`${path}: no mistake found.`]);
    expect(readPolicies(path).source).toMatchObject({ list: [{ entityType: 'dataset', retentionDays: 90 }] });
  });

  it('reports all mistakes at once, by line and column', () => {
    const policies = file(`// what we keep
[
  { "entityType": "dataset", "aspect": "operation", "retentionDay": 90 },
  { "entityType": "chart", "aspect": "chartUsageStatistics", "retentionDays": 5 },
  ${policy},
  ${policy.replace('dataset', 'DataSet')}
]`);
    expect(mistakesIn(policies)).toEqual([
      'policies.json:3:3: policy 1: retentionDays is missing: it must be a number.',
      'policies.json:3:53: policy 1: "retentionDay" is not a known field: did you mean retentionDays?',
      'policies.json:4:62: policy 2: retentionDays must be at least 7 (minRetentionDays), not 5.',
      'policies.json:5:3: policy 3 is for the same index as policy 1 (dataset.operation): keep one of them.',
      'policies.json:6:3: policy 4 is for the same index as policy 1 (DataSet.operation): keep one of them.',
      "policies.json:6:30: warning: policy 4: DataSet.operation is sent in DataHub's spelling, dataset.operation: write it like that.",
    ]);
  });

  it.each<[string, string]>([
    ['', '1:1: it is empty.'],
    ['{\n  "policies": 7 }', '2:3: it must hold a list under "policies": put [ and ] around them.'],
    ['{ "policy": [] }', '1:1: it must hold a list of policies: put [ and ] around them.'],
    [policy, '1:1: it must hold a list of policies: put [ and ] around them.'],
    ['{ "policies": [], "polices": [] }', '1:19: it has the field "polices": besides "policies" only "$schema" is'],
    ['[]', '1:1: it holds an empty list: put a policy into it.'],
    [`[${Array(49).fill(policy).join()}]`, '1:1: it holds 49 policies; a run takes at most 48.'],
    [`[\n${policy},\n\n]`, '2:72: it has a trailing comma: nothing follows it before ].'],
    [`[${policy.replace('90', '6')}]`, 'policy 1: retentionDays must be at least 7 (minRetentionDays), not 6.'],
  ])('says of %s what is wrong and where, and a preview says the same', (text, mistake) => {
    const policies = file(text);
    const mistakes = mistakesIn(policies);
    expect(mistakes.join('\n')).toContain(mistake);
    expect(() => readPolicies(policies)).toThrow(mistakes.join('\n').replace('policies.json', policies));
  });

  it('finds a duplicate whose twin is itself wrong, and keeps its warnings beside its mistakes', () => {
    const policies = file(`[
  ${policy.replace('90', '1')},
  ${policy},
  ${policy.replace('operation', 'operations')}
]`);
    expect(mistakesIn(policies)).toEqual([
      'policies.json:2:53: policy 1: retentionDays must be at least 7 (minRetentionDays), not 1.',
      'policies.json:3:3: policy 2 is for the same index as policy 1 (dataset.operation): keep one of them.',
      expect.stringMatching(
        /^policies\.json:4:30: warning: policy 3: dataset\.operations is not one of DataHub's own indices/,
      ),
    ]);
  });

  it.each([
    'source:\n  type: datahub-gc\n  config:\n    truncate_indices: true\n',
    '{ "source": { "type": "datahub-gc" } }',
  ])('sends who gives a recipe of datahub-gc to the page about it: %j', (recipe) => {
    expect(mistakesIn(file(recipe))).toEqual([
      expect.stringMatching(/^policies\.json:1:1: it is a recipe of datahub-gc, .* docs\/moving-from-datahub-gc\.md /),
    ]);
  });

  it('takes a policy of exactly seven days, a byte order mark, and an index in upper or lower case', () => {
    const path = file(`\ufeff[${policy.replace('90', '7')}]`);
    expect(policiesFile(path, ['DATASET.Operation']).names).toEqual(['dataset.operation']);
    expect(() => policiesFile(path, ['dataset.operations'])).toThrow('did you mean dataset.operation?');
  });

  it('is read again after the plan: someone may have made a policy stricter in the meantime', () => {
    const path = file(`[${policy}]`);
    const { read } = policiesFile(path, undefined);
    writeFileSync(path, `[${policy.replace('90', '365')}]`);
    expect(read()).toMatchObject([{ list: [{ retentionDays: 90 }] }]);
    expect(read()).toMatchObject([{ list: [{ retentionDays: 365 }] }]);
  });

  it('finds every mistake of a stage file, of settings and policies alike', () => {
    const stage = file(
      `{
  "gmsUrl": "http://datahub-gms:8080",
  "mode": "enforced",
  "slackChannelId": "C0123456789",
  "policies": [
    ${policy.replace('90', '"90"')}
  ]
}`,
      'prod.json',
    );
    expect(mistakesIn(stage)).toEqual([
      expect.stringMatching(/^prod\.json:1:1: slackWorkspaceId is missing: Slack needs both/),
      expect.stringMatching(/^prod\.json:2:3: gmsUrl: datahub-gms is a host without a domain/),
      'prod.json:3:3: mode must be "preview" or "enforce", not "enforced".',
      'prod.json:6:55: policy 1: retentionDays must be a number, not "90".',
    ]);
  });

  it('takes the name of a stage from its file', () => {
    const text = `{ "gmsUrl": "https://gms.corp.test/gms", "emails": ["a@corp.test"], "policies": [${policy}] }`;
    expect(inspectionOf(file(text, 'prod-eu.json')).lines[1]).toMatch(/, the name prod-eu \(its name\)\.$/);
    expect(mistakesIn(file(text, 'Prod EU.json'))).toEqual([
      expect.stringMatching(/^Prod EU\.json:1:1: The stage's name "Prod EU" must begin with a letter/),
    ]);
  });

  it('warns of names that resemble ones of DataHub, and accepts them: custom models have their own', () => {
    const policies = file(`[
  ${policy.replace('dataset', 'datset').replace('operation', 'operations')},
  ${policy.replace('operation', 'datasetStats')},
  ${policy.replace('operation', 'Operation')}
]`);
    expect(linesOf(policies, inspectionOf(policies).lines.join('\n'))).toEqual([
      "policies.json:2:29: warning: policy 1: datset.operations is not one of DataHub's own indices; unless a custom model has it, dataset.operation is probably meant.",
      "policies.json:4:30: warning: policy 3: dataset.Operation is sent in DataHub's spelling, dataset.operation: write it like that.",
      'policies.json: no mistake found.',
    ]);
  });

  it('warns of a stage as synth does', () => {
    const stage = file(
      `{
  "gmsUrl": "http://gms.corp.test/gms",
  "schedule": "cron(30 3 ? * SUN *)",
  "policies": [
    ${policy.replace('operation', 'operations')}
  ]
}`,
      'prod.json',
    );
    expect(linesOf(stage, inspectionOf(stage).lines.join('\n'))).toEqual([
      expect.stringMatching(/^prod\.json:1:1: warning: Nobody will be notified: /),
      'prod.json:2:3: warning: gmsUrl http://gms.corp.test/gms is plain http: outside a network of your own, the token can be read in transit; use https.',
      expect.stringMatching(/^prod\.json:3:3: warning: The alarm NotStarted would fire between two runs/),
      expect.stringMatching(/^prod\.json:5:32: warning: policy 1: dataset\.operations is not one of/),
      'prod.json: no mistake found.',
      'From prod.json: the address http://gms.corp.test/gms (gmsUrl), the name prod (its name).',
    ]);
  });

  it('counts what is beyond some dozens of mistakes, and finds them in a moment', () => {
    const keys = Array.from({ length: 100_000 }, (_, at) => [`retentionDay${at}`, 1]);
    const mistakes = mistakesIn(file(JSON.stringify([Object.fromEntries(keys)])));
    expect(mistakes.length).toBeLessThan(50);
    // Besides the fields that are missing.
    expect(mistakes.at(-1)).toMatch(/: and 99\d\d\d more\.$/);
    const long = JSON.stringify([{ ['x'.repeat(3_000_000)]: 1 }]);
    expect(mistakesIn(file(long)).join().length).toBeLessThan(2000);
  });
});
