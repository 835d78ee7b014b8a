import { describe, expect, test } from 'vitest';
import { type Deployment, deployments, firstNight } from '../../../support/deployment.ts';
import { asReindex, day, entryOf, mailOf, operation } from './nights.ts';

/** Nights on a server whose physical names are not `<alias>_<13 digits>`. */

const started = deployments();
const alias = 'dataset_operationaspect_v1';

type Renames = (name: string, original: string) => string[];

/** What the server calls its indices; each further name is another index behind the same alias. */
function renamed(deployment: Deployment, renames: Renames): Deployment {
  const { operations } = deployment.services;
  const original = deployment.service.engine.indices()[0]!.name;
  deployment.services = {
    ...deployment.services,
    operations: {
      ...operations,
      indexSizes: async (options) =>
        (await operations.indexSizes(options)).flatMap((size) =>
          renames(size.indexName, original).map((indexName) => ({ ...size, indexName })),
        ),
    },
  };
  return deployment;
}

const told = async (deployment: Deployment) => {
  const { outcome, cause } = entryOf(await deployment.night());
  return { outcome, cause: cause.kind === 'guard' ? cause.which : cause.kind };
};

const onlyTheFirst =
  (suffix: string): Renames =>
  (name, original) => [name === original ? `${alias}${suffix}` : name];
const aMonthBefore = firstNight - 30 * day;

const verified = { outcome: 'truncated', cause: 'verified' };

describe.each<[called: string, renames: Renames, reindex: object]>([
  ['without a time', () => [alias], { outcome: 'failed', cause: 'index-concrete' }],
  ['with a version and no time', onlyTheFirst('_1_7_0-0'), { outcome: 'failed', cause: 'index-concrete' }],
  ['with two timestamps', onlyTheFirst(`_1693050512123_${aMonthBefore}`), verified],
  [
    'with two timestamps, the last of them a week old (a reindex needs 14 days)',
    onlyTheFirst(`_1693050512123_${firstNight - 7 * day}`),
    { outcome: 'not-started', cause: 'index-young' },
  ],
  ['with a version and a time', onlyTheFirst(`_1_7_0-0_${aMonthBefore}`), verified],
  ['with a prefix', (name) => [`prod_${name}`], verified],
  [
    'by two names, because the alias leads to two indices',
    (name) => [name, `${alias}_${aMonthBefore}`],
    { outcome: 'failed', cause: 'index-name-unknown' },
  ],
])('an index named %s', (_, renames, reindex) => {
  test('is truncated by deleting in place', async () => {
    expect(await told(renamed(await started({ policies: [operation] }), renames))).toEqual(verified);
  });

  test(`ends a reindex policy as ${JSON.stringify(reindex)}`, async () => {
    expect(await told(renamed(await started({ policies: [asReindex] }), renames))).toEqual(reindex);
  });
});

test.each<[string, string, Renames]>([
  ['a prefix', `prod_${alias}`, (name) => [`prod_${name}`]],
  ['a version', alias, onlyTheFirst(`_1_7_0-0_${aMonthBefore}`)],
  ['two timestamps', alias, onlyTheFirst(`_1693050512123_${aMonthBefore}`)],
])('the way back from a copy that was cancelled leads to the alias of a name with %s', async (_, expected, renames) => {
  const deployment = renamed(await started({ faults: ['cancel-at=0.5'], policies: [asReindex] }), renames);
  const mail = mailOf(await deployment.night());
  const aliases = [...mail.matchAll(/"alias":"([^"]+)"/g)].map(([, name]) => name);
  expect(new Set(aliases)).toEqual(new Set([expected]));
});
