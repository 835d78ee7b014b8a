import { expect, it } from 'vitest';
import { deletedByIndexQuery, rowsByIndexQuery, type SavedQuery } from '../../../lambda/aws/queries.ts';
import { anIndexOf, deployments } from '../../support/deployment.ts';

const deploy = deployments();

interface Line extends Record<string, unknown> {
  message: string;
}

/** What the steps log on a night that truncates. */
async function loggedInANight(): Promise<Line[]> {
  const deployment = await deploy({
    indices: [anIndexOf(900, 100)],
    policies: [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30 }],
  });
  const lines: Line[] = [];
  const write = (message: string, fields: Record<string, unknown> = {}) => void lines.push({ message, ...fields });
  deployment.services.log = { info: write, warn: write, error: write };
  await deployment.night();
  return lines;
}

const messageOf = ({ text }: SavedQuery): string => /message = '(\w+)'/.exec(text)![1]!;

it.each([
  [rowsByIndexQuery, ['index', 'rowsTotal', 'rowsToDelete']],
  [deletedByIndexQuery, ['index', 'outcome', 'rowsDeleted']],
] as const)('$name asks for fields that a night logs', async (query, fields) => {
  const [line] = (await loggedInANight()).filter(({ message }) => message === messageOf(query));
  for (const field of fields) {
    expect(query.text).toContain(field);
    expect(line).toHaveProperty(field);
  }
});

it('counts the rows of truncations that have ended', async () => {
  const verdict = (await loggedInANight()).find(({ message }) => message === 'verdict');
  expect(deletedByIndexQuery.text).toContain(`'${verdict?.['outcome']}'`);
  expect(verdict?.['rowsDeleted']).toBe(900);
});
