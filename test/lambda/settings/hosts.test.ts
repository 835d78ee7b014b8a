import { expect, test } from 'vitest';
import { isPlainAndPublic } from '../../../lambda/settings/hosts.ts';

test.each<[gmsUrl: string, inPrivateNetwork: boolean, open: boolean]>([
  ['https://datahub.example.com', false, false],
  ['http://datahub.example.com', false, true],
  ['http://datahub.example.com', true, false],
  ['http://10.0.0.1:8080', false, false],
  ['http://172.20.1.1:8080', false, false],
  ['http://172.40.1.1:8080', false, true],
  ['http://127.0.0.1:8080', false, false],
  ['http://8.8.8.8:8080', true, true],
  ['http://[::1]:8080', false, false],
  ['http://[fd00::1]:8080', false, false],
  ['http://[2001:db8::1]:8080', true, true],
])('%s, in a private network: %s, shows the token to a public network: %s', (gmsUrl, inPrivateNetwork, open) => {
  expect(isPlainAndPublic(gmsUrl, inPrivateNetwork)).toBe(open);
});
