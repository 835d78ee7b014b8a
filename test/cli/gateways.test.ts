import { rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { authority, type Issued } from '../support/certificates.ts';
import { startGateway, type Wants } from '../support/gateway.ts';
import { listening, textOf } from '../support/loopback.ts';
import { at, inFront, operation, runHere, serviceHere } from './here.ts';

/** The command line behind a front that asks for a header, a client certificate, or both, beside DataHub's token. */

const made = authority();
afterAll(made.remove);
const [own, renewed, expired] = [made.issue(10), made.issue(), made.issue(-1)];
const strange = authority();
afterAll(strange.remove);

const secret = 'gateway-value-0123456789';
const otherSecret = 'renewed-value-9876543210';

type Here = Pick<Awaited<ReturnType<typeof serviceHere>>, 'files'>;

const headerFile = ({ files }: Here, value = secret) => [
  '--header-file',
  files.write('headers', `X-Tenant: acme\r\nX-Gateway-Key: ${value}\n`),
];
const certificateFiles = ({ files }: Here, { cert, key }: Issued = own) => [
  ...['--client-certificate', files.write('tls.crt', cert)],
  ...['--client-key', files.write('tls.key', key)],
];

async function behind(wants: Wants, echo?: (value: string) => string) {
  const here = await serviceHere();
  const gateway = await startGateway(here.url, wants, made, echo);
  onTestFinished(gateway.close);
  const server = ['--gms-url', gateway.url, '--token-file', here.files.at('token')];
  const trusted = ['--ca-file', here.files.write('ca.pem', made.ca)];
  const run = (verb: string, ...more: string[]) => {
    const rest = verb === 'survey' ? [] : ['--policies', here.files.write('p.json', [operation])];
    const yes = verb === 'enforce' ? ['--yes'] : [];
    return runHere([verb, ...yes, ...server, ...trusted, ...here.ledger, ...rest, ...more]);
  };
  return { ...here, gateway, run };
}

const fronts: Array<[string, Wants]> = [
  ['a header', { header: secret }],
  ['a client certificate', { certificate: own }],
  ['both', { header: secret, certificate: own }],
];

describe.each(fronts)('A front that wants %s', (_, wants) => {
  test.each(['survey', 'preview', 'enforce'])('lets %s through with it, and has the token as well', async (verb) => {
    const here = await behind(wants);
    const given = [...(wants.header ? headerFile(here) : []), ...(wants.certificate ? certificateFiles(here) : [])];
    const { status, stdout } = await here.run(verb, ...given, ...(verb === 'survey' ? [] : ['--fast']));
    expect([status, stdout]).toEqual([0, expect.not.stringContaining(secret)]);
    expect(here.sent()).toHaveLength(verb === 'enforce' ? 1 : 0);
    const withToken = here.gateway.got.filter(({ headers }) => headers.authorization !== undefined);
    expect(withToken.length).toBeGreaterThan(2);
    if (verb !== 'survey') {
      expect(/client certificate expires on/.test(stdout)).toBe(wants.certificate !== undefined);
      return;
    }
    if (wants.header) expect(stdout).toMatch(/Headers\s+X-Tenant, X-Gateway-Key sent, and needed/);
    if (wants.certificate) expect(stdout).toMatch(/Certificate\s+sent, and needed; expires in 9 days/);
  });
});

describe('A front', () => {
  test.each<[string, Wants, (here: Here) => string[], RegExp, verb?: string]>([
    // Where the connection ends without an answer, it is asked again: a survey does so once.
    ['no header', { header: secret }, () => [], /other than Authorization, give this job one \(--header-file\)/],
    [
      'a wrong header',
      { header: secret },
      (here) => headerFile(here, otherSecret),
      /Renew the headers \(--header-file\)/,
    ],
    [
      'no certificate',
      { certificate: own },
      () => [],
      /want a client certificate do this.*Give this job one \(--client-cert/,
    ],
    [
      'one that has expired',
      { certificate: own },
      (here) => certificateFiles(here, expired),
      /This job's client certificate has expired -> Renew it, and store it with its key.* expired 1 day ago/,
      'survey',
    ],
    [
      'one that is not valid yet',
      { certificate: own },
      (here) => certificateFiles(here, made.issue(400, 30)),
      /This job's client certificate is not valid yet -> Correct the clock here if it is wrong; otherwise store one.* not valid before \d/,
      'survey',
    ],
    [
      'one of another authority',
      { certificate: own },
      (here) => certificateFiles(here, strange.issue()),
      /does not accept the client certificate may end it/,
      'survey',
    ],
    [
      'one that it does not want',
      { certificate: own },
      (here) => certificateFiles(here, renewed),
      /does not accept the client certificate of this job/,
    ],
  ])('that gets %s: nothing is sent, and what to do is said', async (_, wants, given, sentence, verb = 'enforce') => {
    const here = await behind(wants);
    const { status, stdout } = await here.run(verb, ...given(here));
    expect([status, stdout.replace(/\s+/g, ' ')]).toEqual([1, expect.stringMatching(sentence)]);
    expect(stdout).not.toMatch(/new token in DataHub/);
    expect(here.sent()).toEqual([]);
  });

  test.each(['header', 'certificate'] as const)(
    'whose %s is renewed in the middle of a run is followed',
    async (part) => {
      const here = await behind({ header: secret, certificate: own });
      const given = [...headerFile(here), ...certificateFiles(here)];
      const { engine } = here;
      const asked = engine.asked.length;
      const watch = setInterval(() => {
        // After the first answer: the run goes on with what is renewed by then.
        if (engine.asked.length === asked) return;
        clearInterval(watch);
        here.gateway.wants =
          part === 'header' ? { header: otherSecret, certificate: own } : { header: secret, certificate: renewed };
        if (part === 'header') headerFile(here, otherSecret);
        else certificateFiles(here, renewed);
      }, 1);
      onTestFinished(() => clearInterval(watch));
      const { status, stdout } = await here.run('enforce', '--fast', ...given);
      expect([status, stdout]).toEqual([0, expect.stringContaining('truncated')]);
      expect(here.sent()).toHaveLength(1);
      const last = here.gateway.got.at(-1);
      expect(part === 'header' ? last?.headers['x-gateway-key'] : last?.shown?.trim()).toBe(
        part === 'header' ? otherSecret : renewed.cert.trim(),
      );
    },
  );
});

describe('A front without TLS', () => {
  /** @param instead answers in place of GMS, which is below /gms, or looks on */
  const front = async (instead: (body: { dryRun?: boolean; aspect?: string }) => number | undefined) => {
    const here = await serviceHere();
    const real: string[] = [];
    const url = await inFront(here.url, (body, path, headers) => {
      if (body.dryRun === false) real.push(String(headers['x-gateway-key']));
      const status = path.startsWith('/gms/') ? instead(body) : 404;
      return status === undefined ? undefined : { status, body: '{}' };
    });
    const args = here.run('enforce', [operation], ...headerFile(here));
    return { ...here, real, run: (path: string) => runHere(at(`${url}${path}`, args)) };
  };

  test('that has GMS below a path gets everything there, and nothing is sent beside it', async () => {
    const here = await front(() => undefined);
    expect((await here.run('')).status).toBe(1);
    expect([(await here.run('/gms')).status, here.sent().length, here.real]).toEqual([0, 1, [secret]]);
  });

  test('that refuses a real truncate gets none again in this run, although its header has been renewed by then', async () => {
    const here = await front(({ dryRun }) => {
      if (dryRun !== false) return undefined;
      headerFile(here, otherSecret);
      return 401;
    });
    expect([(await here.run('/gms')).status, here.real, here.sent()]).toEqual([1, [secret], []]);
  });

  test('whose header is renewed to something else gets nothing, and the file is named', async () => {
    let asked = 0;
    const here = await front(({ aspect }) => {
      if (aspect === undefined || asked++ === 0) return undefined;
      here.files.write('headers', 'renewed-to-a-secret-alone\n');
      return 401;
    });
    const { status, stdout } = await here.run('/gms');
    expect([status, here.real, stdout.replace(/\s+/g, ' ')]).toEqual([
      1,
      [],
      expect.stringMatching(/--header-file \S+ has no header in line 1: write one/),
    ]);
    expect(stdout).not.toMatch(/renewed-to/);
  });
});

test('An identity goes to GMS alone, and neither to a webhook nor to a Pushgateway of the same authority', async () => {
  const here = await behind({ header: secret, certificate: own });
  const elsewhere: string[] = [];
  const tls = { ...made.issue(), requestCert: true, rejectUnauthorized: false };
  const server = createServer(tls, async (asked, answer) => {
    const shown = (asked.socket as TLSSocket).getPeerX509Certificate()?.subject ?? 'no certificate';
    elsewhere.push(`${shown}: ${asked.url} ${JSON.stringify(asked.headers)} ${await textOf(asked)}`);
    answer.end('ok');
  });
  const { port, close } = await listening(server);
  onTestFinished(close);
  const url = `https://127.0.0.1:${port}`;
  const hook = ['--notify-url-file', here.files.write('hook', `${url}/hook/of-this-test`), '--metrics-url', url];
  const { status } = await here.run('enforce', '--fast', ...headerFile(here), ...certificateFiles(here), ...hook);
  expect([status, here.sent().length, elsewhere.length]).toEqual([0, 1, 2]);
  for (const text of elsewhere) {
    expect(text).toMatch(/^no certificate: /);
    for (const hidden of [secret, here.token, 'x-gateway-key', 'authorization']) expect(text).not.toContain(hidden);
  }
});

const forms: Array<(value: string) => string> = [
  (value) => value,
  (value) => value.toUpperCase(),
  (value) => Buffer.from(value).toString('base64'),
  (value) => Buffer.from(value).toString('hex'),
  (value) => [...value].map((letter) => `&#${letter.charCodeAt(0)};`).join(''),
  (value) => (value.match(/.{1,8}/g) ?? []).join('<b>'),
];

test.each(['survey', 'preview'])(
  'A header that the front repeats, also in a redirect, is nowhere after %s',
  async (verb) => {
    let asked = 0;
    const here = await behind({ header: secret }, (value) => forms[asked++ % forms.length]!(value));
    const json = ['--json', here.files.at('out.json')];
    const ended = await here.run(verb, ...headerFile(here), ...json, '--log', 'json');
    expect(asked).toBeGreaterThan(0);
    rmSync(here.files.at('headers'));
    const shown = [ended.stdout, ended.stderr, JSON.stringify(ended.lines), ...here.files.texts()].join();
    for (const form of forms) expect(shown).not.toContain(form(secret).slice(4, 16));
    // It went nowhere else: the redirect was not followed.
    expect(here.gateway.got.every(({ headers }) => headers.host === new URL(here.gateway.url).host)).toBe(true);
  },
);

describe('--no-identity', () => {
  const open = async (needsToken: boolean) => {
    const here = await serviceHere();
    const gateway = await startGateway(here.url, needsToken ? {} : { open: here.token }, made);
    onTestFinished(gateway.close);
    const trusted = ['--ca-file', here.files.write('ca.pem', made.ca)];
    const url = ['--gms-url', gateway.url, ...trusted, ...here.ledger];
    const policies = ['--policies', here.files.write('p.json', [operation]), '--fast'];
    const run = (verb: string, ...more: string[]) =>
      runHere([verb, ...url, ...(verb === 'survey' ? [] : policies), ...more], { env: { HOME: here.files.at('.') } });
    return { ...here, got: gateway.got, run };
  };

  test.each(['survey', 'preview', 'enforce'])('%s works where the server asks for none', async (verb) => {
    const here = await open(false);
    const { status, stdout } = await here.run(verb, '--no-identity', ...(verb === 'enforce' ? ['--yes'] : []));
    expect([status, here.sent().length]).toEqual([0, verb === 'enforce' ? 1 : 0]);
    expect(here.got.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    if (verb === 'survey')
      expect(stdout.replace(/\s+/g, ' ')).toMatch(/Anyone who reaches this port can delete rows, too/);
  });

  test('says how a token is made where the server asks for one', async () => {
    const here = await open(true);
    const { status, stdout } = await here.run('enforce', '--no-identity', '--yes');
    expect([status, here.sent()]).toEqual([1, []]);
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /sends none by its settings.*create a new token in DataHub \(Settings, Access Tok/,
    );
  });

  test.each([
    [false, /^No access token, but this server answers without one: add --no-identity/],
    [true, /^No access token: give --token-file/],
  ])(
    'is named by a survey without a token only where it would work (needs a token: %s)',
    async (needsToken, sentence) => {
      const here = await open(needsToken);
      const { status, stderr } = await here.run('survey');
      expect([status, stderr]).toEqual([2, expect.stringMatching(sentence)]);
      expect(here.got).toHaveLength(1);
      expect(here.engine.asked.every(({ body }) => (body as { dryRun?: boolean }).dryRun === true)).toBe(true);
    },
  );

  test.each(['preview', 'enforce'])('is not what a missing token means to %s', async (verb) => {
    const here = await open(false);
    const { status, stderr } = await here.run(verb, ...(verb === 'enforce' ? ['--yes'] : []));
    expect([status, stderr, here.got]).toEqual([2, expect.stringMatching(/^No access token: /), []]);
  });
});
