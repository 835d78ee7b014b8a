import { readFileSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import samplePolicies from '../../../cli/embedded-service/sample-policies.json' with { type: 'json' };
import { forPeople } from '../../../lambda/model/policy-fields.ts';
import { textOf } from '../../support/loopback.ts';
import { answering, at, type Here, inFront, operation, runHere, serviceHere } from '../here.ts';

/** A server that answers every question with its caller's token, each time in another form. */

const forms: Array<(token: string) => string> = [
  (token) => token,
  (token) => (token.match(/.{1,8}/g) ?? []).join('<b>'),
  (token) => (token.match(/.{1,11}/g) ?? []).join('\n'),
  (token) => (token.match(/.{1,12}/g) ?? []).join('<!-- x -->'),
  (token) => (token.match(/.{1,15}/g) ?? []).join('\\n'),
  (token) => [...token].map((letter) => `&#${letter.charCodeAt(0)};`).join(''),
  (token) => [...token].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join(''),
  (token) => [...token].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join(''),
  (token) => Buffer.from(token).toString('base64'),
  (token) => Buffer.from(token).toString('hex'),
  (token) => JSON.stringify([...Buffer.from(token)]),
];

test.each([
  ['preview', 'text'],
  ['enforce', 'json'],
])('A token that the server repeats is nowhere after %s --log %s', async (verb, log) => {
  const { token, files, run } = await serviceHere();
  let asked = 0;
  const url = await answering(async (request, answer) => {
    await textOf(request);
    const repeated = forms[asked++ % forms.length]!(token);
    const answers = [
      [400, JSON.stringify({ message: `Bearer ${repeated}` })],
      [403, `<p>got ${repeated}`],
      [200, JSON.stringify({ value: repeated })],
    ] as const;
    // A receiver's refusal is quoted where it is no page.
    const [status, body] = request.url === '/hook' ? answers[0] : answers[asked % answers.length]!;
    answer.writeHead(status, { 'x-sample-data': 'true', 'content-type': 'text/html' }).end(body);
  });
  const receivers = ['--metrics-url', url, '--notify-url-file', files.write('hook', `${url}/hook`)];
  const args = run(verb, samplePolicies, '--json', files.at('report.json'), '--log', log, ...receivers);
  const here = await runHere(at(url, args));
  expect(asked).toBeGreaterThan(3);
  rmSync(files.at('token'));
  expectNothingOf(token, shownBy(here, files.texts()));
});

test("A gateway's key or a webhook's address in a text of a policy for people is in no event", async () => {
  const { files, run } = await serviceHere();
  const key = 'a8Fq2-Zk9rT-4mW7x';
  const policies = [{ ...operation, ...Object.fromEntries(forPeople.map((field) => [field, `call ${key}`])) }];
  const second = { ...operation, aspect: 'datasetProfile', note: 'https://chat.example/of-the-team reads this' };
  const headers = ['--header-file', files.write('headers', `X-Key: ${key}`)];
  const hook = ['--notify', 'problems', '--notify-url-file', files.write('hook', 'https://chat.example/of-the-team')];
  const { lines } = await runHere(run('preview', [...policies, second], ...headers, ...hook, '--log', 'json'));
  expect(lines).toContainEqual(expect.objectContaining({ event: 'planned', note: '[webhook] reads this' }));
  const planned = lines.find(({ event, aspect }) => event === 'planned' && aspect === operation.aspect);
  for (const field of forPeople) expect(planned?.[field]).toMatch(/^This text repeated/);
});

test.each(['text', 'json'])(
  'A token that the server repeats is nowhere after survey --log %s, nor in its page',
  async (log) => {
    const { url: behind, token, files, server } = await serviceHere();
    let asked = 0;
    const url = await inFront(behind, ({ aspect }, path) => {
      const repeated = forms[asked++ % forms.length]!(token);
      if (path.endsWith('/config')) {
        const versions = { 'acryldata/datahub': { version: `v1.3.0 ${token}` } };
        return { status: 200, body: JSON.stringify({ versions }) };
      }
      // The first dry run says whether anything can be counted.
      if (aspect === undefined || asked < 4 || aspect === 'operation') return undefined;
      return { status: 400, body: JSON.stringify({ message: `Bearer ${repeated}` }) };
    });
    const written = ['--html', files.at('page.html'), '--json', files.at('policies.json')];
    const here = await runHere(at(url, ['survey', ...server, ...written, '--log', log]));
    rmSync(files.at('token'));
    expectNothingOf(token, shownBy(here, files.texts()));
    expect(readFileSync(files.at('page.html'), 'utf8')).toMatch(/repeated a secret.*All indices/s);
  },
);

const shownBy = ({ stdout, stderr, lines }: Here, written: string[]): string =>
  [stdout, stderr, JSON.stringify(lines), ...written].join();

function expectNothingOf(token: string, shown: string): void {
  expect(shown).toContain('repeated a secret');
  for (const piece of forms.flatMap((form) => form(token).match(/.{8}/g) ?? [])) expect(shown).not.toContain(piece);
}
