import { expect, test } from 'vitest';
import { runbookAddress } from '../../../infra/stage/runbook-address.ts';

const github = 'https://github.com/team/retention/blob/v1.2.3/docs/runbook.md';

test.each<[repository: unknown, address: string | undefined]>([
  ['team/retention', github],
  ['github:team/retention', github],
  [{ type: 'git', url: 'git+https://github.com/team/retention.git' }, github],
  [{ url: 'git+ssh://git@github.com/team/retention.git' }, github],
  [{ url: 'https://github.com/team/retention/' }, github],
  ['gitlab:team/retention', 'https://gitlab.com/team/retention/-/blob/v1.2.3/docs/runbook.md'],
  [
    { url: 'https://gitlab.example.com/data/team/retention.git' },
    'https://gitlab.example.com/data/team/retention/-/blob/v1.2.3/docs/runbook.md',
  ],
  [{ url: 'https://git.example.com/team/retention.git' }, undefined],
  [{ url: 7 }, undefined],
  ['retention', undefined],
  [undefined, undefined],
])('The runbook of a repository at %j is at %s', (repository, address) => {
  expect(runbookAddress({ version: '1.2.3', repository })).toBe(address);
});
