import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inspectionOf } from '../../../cli/commands/validate.ts';
import { addressInPolicies, originOf, policiesFile, withLimits, withServer } from '../../../cli/inputs/policies.ts';
import { readServer } from '../../../cli/inputs/server.ts';
import { operation } from '../here.ts';
import { folder } from '../processes.ts';

const file = (text: string, name: string): string => folder().write(name, text);

/** What `validate` says: the mistakes, or the lines of a file that is fine. */
function said(text: string, name: string): string {
  const path = file(text, name);
  let lines: string;
  try {
    lines = inspectionOf(path).lines.join('\n');
  } catch (error) {
    lines = (error as Error).message;
  }
  return lines.replaceAll(`${dirname(path)}/`, '');
}

const policy = '{ entityType: dataset, aspect: operation, retentionDays: 90 }';
const values = `server:
  url: http://gms.datahub.svc:8080 # inside
  name: prod
policies:
  - ${policy}
`;

describe('The files that people have', () => {
  test.each<[name: string, text: string, key: string]>([
    ['values.yaml', values, 'server'],
    ['umbrella.yaml', `other: { mode: 0644 }\nretention:\n${values.replace(/^/gm, '  ')}`, 'retention.server'],
  ])('%s of a chart gives policies, address and name, and says which keys they came from', (name, text, key) => {
    const path = file(text, name);
    const { settings, names } = policiesFile(path, undefined);
    expect(names).toEqual(['dataset.operation']);
    expect(addressInPolicies(settings)).toEqual({
      text: 'http://gms.datahub.svc:8080',
      from: `${key}.url of ${path}`,
    });
    expect(said(text, name)).toBe(
      `${name}: no mistake found.\nFrom ${name}: the address http://gms.datahub.svc:8080 (${key}.url), the name prod (${key}.name).`,
    );
  });

  test('a stage with comments gives its limits, too, and its floor holds', () => {
    const stage = (days: number) => `{
  // ours
  "gmsUrl": "https://datahub.corp.test/gms", "emails": ["a@corp.test"],
  "minRetentionDays": 60, "maxRowsPerRun": 5000,
  "policies": [{ "entityType": "dataset", "aspect": "operation", "retentionDays": ${days} }]
}`;
    expect(said(stage(90), 'prod.json')).toContain('minRetentionDays 60, maxRowsPerRun 5000.');
    expect(said(stage(59), 'prod.json')).toBe(
      'prod.json:5:66: policy 1: retentionDays must be at least 60 (minRetentionDays), not 59.',
    );
  });

  test.each([
    [
      'minRetentionDays: 91',
      /^values\.yaml:5:47: policy 1: retentionDays must be at least 91 \(minRetentionDays\), not 90/,
    ],
    ['minRetentionDays: 3\nmaxRunHours: 6', /minRetentionDays 3, maxRunHours 6\.$/],
    ['maxRunHours: 25', /^values\.yaml:6:1: maxRunHours must be at most 24, not 25/],
    ['maxRowsPerRun: 5M', /^values\.yaml:6:1: maxRowsPerRun must be a number, not "5M"/],
    ['maxRowsPerRun: null', /the name prod \(server\.name\)\.$/],
  ])('the values of a chart with %s', (limits, expected) => {
    expect(said(`${values}${limits}\n`, 'values.yaml')).toMatch(expected);
  });

  const stageFile = (more: object) =>
    JSON.stringify({ gmsUrl: 'http://gms.corp.test/gms', emails: ['a@corp.test'], policies: [operation], ...more });
  const valuesFile = (more: string) => values.replace('  name:', `  ${more}\n  name:`);
  const token = { DATAHUB_GMS_TOKEN: 'token-of-the-environment', HOME: '/no/such/home' };

  test.each([
    ['prod.json', stageFile({ noIdentity: true }), 'noIdentity'],
    ['values.yaml', valuesFile('noIdentity: true'), 'server.noIdentity'],
  ])('%s with noIdentity sends no token to its address, and to no other', async (name, text, key) => {
    const path = file(text, name);
    const { settings } = policiesFile(path, undefined);
    const inFile = () => addressInPolicies(settings);
    const { identity, from } = readServer({}, token, inFile);
    expect([await identity.get(), from?.identity]).toEqual([{}, [`no token (${key} of ${path})`]]);
    expect(originOf(settings)).toContain(`no token (${key})`);
    expect(withServer({}, settings)).toMatchObject({ identity: false });
    for (const given of [{ tokenFile: file('abc-def-ghi-jkl', 'token') }, { gmsUrl: 'http://other.corp.test' }]) {
      expect((await readServer(given, token, inFile).identity.get()).token).toMatch(/-/);
      expect(originOf(settings, given)).not.toContain('no token');
      expect(withServer(given, settings)).not.toHaveProperty('identity');
    }
  });

  test.each([
    ['prod.json', stageFile({ noIdentity: false })],
    ['values.yaml', valuesFile('noIdentity: false')],
    ['values.yaml', valuesFile('noIdentity: null')],
  ])('%s without it sends one: %s', async (name, text) => {
    const { settings } = policiesFile(file(text, name), undefined);
    const { identity } = readServer({}, token, () => addressInPolicies(settings));
    expect(await identity.get()).toEqual({ token: token.DATAHUB_GMS_TOKEN });
  });

  test('noIdentity as a text is a mistake in the values of a chart as in a stage', () => {
    const sentence = /noIdentity must be true or false, not "true"/;
    expect(said(valuesFile('noIdentity: "true"'), 'values.yaml')).toMatch(sentence);
    expect(said(stageFile({ noIdentity: 'true' }), 'prod.json')).toMatch(sentence);
  });

  test('the limits of the command line take the place of those in the file', () => {
    const text = JSON.stringify([{ entityType: 'dataset', aspect: 'operation', retentionDays: 3 }]);
    expect(said(text, 'p.json')).toMatch(/at least 7 \(minRetentionDays\)/);
    const given = withLimits(policiesFile(file(text, 'p.json'), undefined, 3), { minRetentionDays: 3, maxRunHours: 2 });
    expect(given.settings).toMatchObject({ minRetentionDays: { value: 3 }, maxRunHours: { value: 2 } });
    expect(originOf(given.settings)).toBeUndefined();
  });

  test('a value of an example is refused by validate, and by a run that would use it', () => {
    const text =
      '{ "gmsUrl": "https://datahub.example.com/gms", "emails": ["a@corp.test"], "policies": [{ "entityType": "dataset", "aspect": "operation", "retentionDays": 90 }] }';
    expect(said(text, 'example.json')).toMatch(/^example\.json:1:3: gmsUrl: .* has the address of an example/);
    const { settings } = policiesFile(file(text, 'example.json'), undefined);
    expect(() => addressInPolicies(settings)).toThrow(
      / has the address of an example: write your own, or give --gms-url/,
    );
    expect(said(values.replace('gms.datahub.svc', 'gms.example.com'), 'values.yaml')).toMatch(
      /^values\.yaml:2:3: server\.url: .* has the address of an example/,
    );
  });

  test.each<[name: string, text: string, line: string]>([
    ['kustomization.yaml', 'helmCharts:\n  - name: datahub-retention\n', '1:1: it is a Kustomize file: give the file'],
    ['secret.yaml', 'apiVersion: v1\nkind: Secret\nstringData: { token: hunter2hunter2 }\n', '1:1: it is a Secret of'],
    [
      'flux.yaml',
      'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n',
      '1:1: its kind is HelmRelease: put the values of the chart',
    ],
    ['tabs.yaml', 'policies:\n\t- a: 1\n', '2:1: it is indented with a tab here'],
    [
      'twice.yaml',
      `- ${policy.replace(' }', ', retentionDays: 30 }')}\n`,
      '1:64: it has the key "retentionDays" twice',
    ],
    ['null.yaml', 'policies: null\n', '1:1: it must hold a list under "policies"'],
    ['empty.yaml', '', '1:1: it is empty.'],
    ['comments.yaml', '# nothing yet\n', '1:1: it holds nothing but comments.'],
    ['two.yaml', `- ${policy}\n---\n- ${policy}\n`, '2:1: it holds several documents'],
    ['anchor.yaml', 'policies:\n  - *none\n', '2:5: it refers to an anchor that is not defined before it.'],
    ['octal.yaml', `- ${policy.replace('90', '0365')}\n`, '1:45: 0365 begins with 0, and Helm reads that as octal'],
    ['yes.yaml', `- ${policy.replace(' }', ', enabled: yes }')}\n`, '1:64: policy 1: enabled must be true or false'],
    ['date.yaml', `- ${policy.replace('90', '2026-01-01')}\n`, '1:45: policy 1: retentionDays must be a number'],
    ['tag.yaml', `- ${policy.replace('90', '!days 90')}\n`, '1:60: it has a tag here (!)'],
    ['itself.yaml', 'policies: &all\n  - *all\n', '2:5: it refers to an anchor that is not defined before it.'],
    ['latin1.yaml', `- ${policy.replace(' }', ', owner: M\ufffdller }')}\n`, '1:72: it is not UTF-8 text'],
    ['typo.yaml', values.replace('name:', 'nmae:'), '3:3: "nmae" is not a known field: did you mean name?'],
    ['both.yaml', `a: { policies: [${policy}] }\nb: { policies: [] }\n`, '1:1: it holds policies in several places'],
    ['deep.yaml', `${'['.repeat(50_000)}`, '1:1: it is nested too deeply.'],
    [
      'bomb.yaml',
      `a: &a [1,1]\n${[...'bcdefghijk'].map((name, at) => `${name}: &${name} [${`*${'abcdefghij'[at]},`.repeat(9)}1]`).join('\n')}\n`,
      '1:1: it repeats its anchors too often.',
    ],
  ])('%s: the error says what is wrong and where, and shows none of the content', (name, text, line) => {
    const [first = ''] = said(text, name).split('\n');
    expect(first).toContain(`${name}:${line}`);
    expect(first).not.toContain('hunter2');
  });

  test('anchors, merged keys and 1e3 mean what Helm makes of them', () => {
    const text = `policies:
  - &usual { entityType: dataset, aspect: operation, retentionDays: &days 1e3 }
  - { <<: *usual, aspect: datasetProfile }
  - { entityType: chart, aspect: chartUsageStatistics, retentionDays: *days }
`;
    const [source] = policiesFile(file(text, 'anchors.yml'), undefined).read();
    expect(source).toMatchObject({
      list: [
        { aspect: 'operation', retentionDays: 1000 },
        { entityType: 'dataset', aspect: 'datasetProfile', retentionDays: 1000 },
        { aspect: 'chartUsageStatistics', retentionDays: 1000 },
      ],
    });
  });
});
