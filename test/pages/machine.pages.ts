import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimulatedGms, startSimulatedGms } from '../simulated-gms/server.ts';
import { realTruncates } from '../simulated-gms/simulation/exchange.ts';
import { type Clone, cloneHere, type Ran } from './clone.ts';
import { type Command, filled, read } from './commands.ts';
import { commandsFor, rowsOf, Worklist } from './executed.ts';

/**
 * Every command that the pages have for a machine, as it is written, in a fresh clone and against a service that is no
 * sample for anybody: rows above a ceiling, and a truncation that loses some. In the order in which a person needs them.
 */

const day = 86_400_000;
/** Of the server's clock, for what is left under way: long enough for what is done meanwhile. */
const truncationSeconds = 200;
const worklist = new Worklist(commandsFor('pages'));
const operate = (heading: string, text?: RegExp) => worklist.take('docs/operate.md', heading, text, 'machine');

let clone: Clone;
let service: SimulatedGms;
/** What people type before: the function of operate.md. */
let defined = '';
/** How far the server's clock is ahead, which ends its tasks. */
let ahead = 0;

const truncates = () => realTruncates(service.engine.asked);
const policies = (more: object = {}) => [
  { entityType: 'dataset', aspect: 'operation', retentionDays: 90, maxDeletePercent: 50 },
  { entityType: 'dataset', aspect: 'datasetProfile', retentionDays: 365, ...more },
];

const valuesHere = () => ({
  'http://localhost:8080': service.url,
  'https://datahub.example.com/api/gms': service.url,
  '/etc/datahub-retention': clone.at('etc'),
  '/var/lib/datahub-retention': clone.at('state'),
  '/var/log/datahub-retention': clone.at('log'),
  '/usr/local/bin': clone.at('../usr/bin'),
  FILE: 'policies.json',
  SECTION: 'rows-missing',
  INDEX: 'dataset.operation',
});

/** Here is no terminal at which a person would say yes. */
const type = ({ text }: Command, env: Record<string, string> = {}): Promise<Ran> =>
  clone.sh(filled(`${defined}${text.replace(/ enforce\b(?!.*--yes)/, '$& --yes')}`, valuesHere()), env);

const expectOk = async (command: Command, env?: Record<string, string>): Promise<string> => {
  const { status, stdout, stderr } = await type(command, env);
  expect([command.text, status, status === 0 ? '' : stdout + stderr]).toEqual([command.text, 0, '']);
  return stdout;
};

beforeAll(async () => {
  clone = cloneHere();
  // The test's own user in the place of root and of the service's user.
  clone.shim('sudo', 'case "$1" in --user=*) shift;; esac\nexec "$@"');
  service = await startSimulatedGms({
    indices: [
      { entityType: 'dataset', aspect: 'operation', rows: 20_000, days: 80 },
      { entityType: 'dataset', aspect: 'datasetProfile', rows: 1000, days: 300 },
    ],
    clock: { now: () => Date.now() + ahead },
  });
  service.engine.addRows('dataset.operation', rowsOf(43_000, 120));
  clone.write('token.txt', `${service.token}\n`);
  clone.write('policies.json', policies());
});
afterAll(async () => {
  await service?.close();
  clone?.remove();
});

describe('README.md', () => {
  test('its first command installs, and prints what it shows', async () => {
    const [first] = worklist.take('README.md', 'datahub-retention', /^npm ci && npm start/);
    const printed = (await expectOk(first)).split('\n');
    const { text } = read('README.md').shown.find((block) => block.text.startsWith('Index '))!;
    expect(text.split('\n').filter((line) => line.length > 80 || !printed.includes(line))).toEqual([]);
  });

  test('looks at a server without changing it, writes policies to begin with, and previews them', async () => {
    const [survey, preview] = worklist.take('README.md', 'Look at your own server', /^\.\/retention/);
    clone.write('own.json', clone.read('policies.json'));
    await clone.sh('rm policies.json');
    const said = await expectOk(survey);
    for (const name of ['Address', 'Token', 'Truncation', 'Clock']) expect(said).toMatch(new RegExp(`${name}`));
    expect(JSON.parse(clone.read('policies.json'))).toContainEqual(expect.objectContaining({ aspect: 'operation' }));
    expect((await expectOk(preview!)).replace(/\s+/g, ' ')).toContain('PREVIEW, nothing was deleted');
    expect(truncates()).toEqual([]);
    await clone.sh('mv own.json policies.json');
  });

  test('checks policies without a server', async () => {
    const [validate] = worklist.take('README.md', 'Policies');
    await expectOk(validate);
    clone.write('wrong.json', [{ entityType: 'dataset', aspect: 'operation' }]);
    expect(await type({ ...validate, text: validate.text.replace('FILE', 'wrong.json') })).toMatchObject({ status: 2 });
  });
});

describe('docs/operate.md, on a machine', () => {
  const message = ({ stdout }: Ran) => stdout.replace(/\s+/g, ' ');

  beforeAll(() => {
    const [definition] = worklist.take('docs/operate.md', 'Operate', /^machine\(\)/);
    defined = `${definition.text}\n`;
  });

  test('has it run: before the first run there is no ledger', async () => {
    const [status] = operate('Has it run?');
    expect(await type(status)).toMatchObject({ status: 2 });
  });

  test('preview: the message says PREVIEW, that nothing was deleted, and the number that the page approves', async () => {
    const preview = await type(operate('Preview')[0]);
    expect(message(preview)).toContain('PREVIEW, nothing was deleted');
    expect(message(preview)).toContain('enforce dataset.operation --policies policies.json --approve-rows 45150');
    expect(truncates()).toEqual([]);
  });

  test('approve: the message says truncated, and status the verdict', async () => {
    expect(message(await type(operate('Approve')[0]))).toContain('dataset.operation: truncated, 43,000 of 63,000 rows');
    expect(service.engine.rows('dataset.operation')).toHaveLength(20_000);
    expect(await expectOk(operate('What is under way')[0])).toMatch(/dataset\.operation[\s\S]*truncated/);
  });

  test('release: counts and refuses while rows are missing, and accepts as many as the page says', async () => {
    await loseRows(945);
    const [release] = operate('Release', /operation$/);
    expect(message(await type(release))).toMatch(/NOT RELEASED: dataset\.operation.*945 rows/i);
    const [accepting] = operate('Release', /accept-missing/);
    expect(message(await type(accepting))).toMatch(/Released: dataset\.operation/);
  });

  test('add an index: a survey lists the indices, and the file is checked', async () => {
    const [survey] = worklist.take('docs/operate.md', 'Add an index', /survey/);
    expect(await expectOk(survey)).toContain('dataset.datasetProfile');
    await expectOk(operate('Add an index')[0]);
  });

  test('upgrade, and go back: each version finds the quarantine, and verifies what another has left under way', async () => {
    const [shown] = worklist.take('docs/operate.md', 'Upgrade this job', /--version/);
    const version = async () => (await expectOk(shown)).trim();
    const status = () => expectOk(asCommand('./retention status --ledger ledger'));
    await loseRows(945);
    const git = 'git -C ../origin -c user.name=test -c user.email=test@example.com';
    await clone.sh(`git tag v0.1.0 && ${git} commit --quiet --allow-empty --message later`);
    expect(await version()).toBe('datahub-retention 0.1.0');

    const leftByTheOlder = await leaveUnderWay(status);
    for (const command of operate('Upgrade this job')) {
      // Only there: npm's other settings are found by its prefix.
      await expectOk(command, / --global /.test(command.text) ? { npm_config_prefix: clone.at('../usr') } : {});
    }
    expect(await version()).toMatch(/^datahub-retention 0\.1\.0\+[0-9a-f]{12}$/);
    expect(await status()).toBe(leftByTheOlder);
    await waitUntilNothingIsUnresolved(status);

    const leftByTheNewer = await leaveUnderWay(status);
    await expectOk(worklist.take('docs/operate.md', 'Go back', /^git/, 'AWS')[0]);
    expect(await version()).toBe('datahub-retention 0.1.0');
    expect(await status()).toBe(leftByTheNewer);
    await waitUntilNothingIsUnresolved(status);
    await clone.sh('git switch --quiet -');
  });
});

const asCommand = (text: string): Command => ({ page: '', heading: '', line: 0, text });

/** A run that is killed while the server deletes rows of dataset.datasetProfile. Returns what the ledger says then. */
async function leaveUnderWay(status: () => Promise<string>): Promise<string> {
  service.engine.addRows('dataset.datasetProfile', rowsOf(500, 400));
  service.engine.fault(`rows-per-second=${500 / truncationSeconds}`);
  const run = 'machine enforce dataset.datasetProfile --policies policies.json --approve-rows 500 --yes';
  const underWay = "./retention status --ledger ledger | grep -q 'under way'";
  await clone.sh(
    filled(
      `${defined}set -m; ${run} & until ${underWay} || ! kill -0 $!; do sleep 0.2; done; kill -KILL -- -$!`,
      valuesHere(),
    ),
  );
  const left = await status();
  for (const state of ['QUARANTINED', 'under way']) expect(left).toContain(state);
  return left;
}

/** As the page says; the server ends its task first. */
async function waitUntilNothingIsUnresolved(status: () => Promise<string>): Promise<void> {
  ahead += truncationSeconds * 1000;
  service.engine.fault('rows-per-second=200000');
  const before = truncates().length;
  clone.write('policies.json', policies({ enabled: false }));
  const { stdout } = await type(operate('Wait until nothing is unresolved')[0]);
  clone.write('policies.json', policies());
  expect(stdout).toContain('dataset.datasetProfile: truncated, 500 of 1,500 rows');
  expect(truncates()).toHaveLength(before);
  const left = await status();
  expect(left).toContain('QUARANTINED');
  expect(left).not.toContain('under way');
}

/** A run in which the server loses rows that should stay, and which ends with the index quarantined. */
async function loseRows(count: number): Promise<void> {
  service.engine.addRows('dataset.operation', rowsOf(43_000, 120));
  const before = truncates().length;
  const losing = setInterval(() => {
    if (truncates().length === before) return;
    clearInterval(losing);
    let left = count;
    service.engine.removeRows('dataset.operation', ({ timestamp }) => timestamp > Date.now() - 90 * day && left-- > 0);
  }, 5);
  const text = 'machine enforce dataset.operation --policies policies.json --approve-rows 45150 --yes --fast';
  const { stdout } = await type(asCommand(text));
  clearInterval(losing);
  expect(stdout).toContain('ROWS MISSING in dataset.operation');
}

test.concurrent.each(
  worklist.take('docs/command-line.md', 'The command line').map((command) => [command.text, command]),
)('The verbs of docs/command-line.md: %s works with what is in the environment', async (_, command) => {
  const written = {
    ...command,
    text: command.text.replace(/^(?!npm|\.\/)/, './retention ').replace(/\[|\]|\.{3}/g, ''),
  };
  const env = {
    DATAHUB_GMS_URL: service.url,
    DATAHUB_GMS_TOKEN: service.token,
    DATAHUB_RETENTION_POLICIES: 'policies.json',
    XDG_STATE_HOME: clone.at('xdg'),
  };
  const { status, stderr } = await type(written, env);
  expect([status === 0 || status === 1, stderr.replace(/^npm warn.*$/gm, '').trim()]).toEqual([true, '']);
});

describe('docs/machine.md', () => {
  const take = (heading: string, text?: RegExp) => worklist.take('docs/machine.md', heading, text);
  const { shown } = read('docs/machine.md');
  /** A file that the page shows, with this test's paths. */
  const file = (text: RegExp) => filled(shown.find((one) => text.test(one.text))!.text, valuesHere());
  /** What a line of it starts, as systemd and cron read it. */
  const preview = async (line: string, env: Record<string, string>) => {
    const { stdout } = await clone.sh(line, env);
    return stdout.replace(/\s+/g, ' ');
  };

  beforeAll(() => {
    defined = '';
    const withoutOwner =
      'for a; do shift; case "$skip$a" in -g|-o) skip=1;; 1*) skip=;; *) set -- "$@" "$a";; esac; done';
    clone.shim('install', `${withoutOwner}\nexec /usr/bin/install "$@"`);
    clone.shim('datahub-retention', `exec "${clone.at('../usr/bin/datahub-retention')}" "$@"`);
  });

  test('installs the packed program and the files of one DataHub', async () => {
    worklist.take('docs/privileges-and-network.md', 'In a CDK app of your own', /^npm pack/);
    for (const command of take('Install')) await expectOk(command, { npm_config_prefix: clone.at('../usr') });
    symlinkSync(process.execPath, clone.at('../usr/bin/node'));
    for (const name of ['token', 'policies.json']) expect(clone.read(`etc/prod/${name}`)).not.toBe('');
  });

  test('the program that is installed prints the runbook', async () => {
    const [runbook] = worklist.take('docs/runbook.md', 'Runbook', /^datahub-retention/);
    expect(await expectOk(runbook)).toContain('Rows missing');
  });

  test.skipIf(!hasSystemd())('its units are what systemd takes, and are hardened', async () => {
    clone.write('datahub-retention@prod.service', file(/ExecStart=/));
    clone.write('datahub-retention@prod.timer', file(/OnCalendar=/));
    const units = './datahub-retention@prod.service ./datahub-retention@prod.timer';
    // It only warns of a setting that it does not know.
    expect(await clone.sh(`systemd-analyze verify ${units}`)).toEqual({ status: 0, stdout: '', stderr: '' });
    const { status, stdout } = await clone.sh('systemd-analyze security --offline=true --threshold=20 ./*.service');
    expect([status, stdout.split('\n').at(-2)]).toEqual([0, expect.stringContaining('OK')]);
  });

  test('what the service starts previews, with the token of its credentials', async () => {
    const [, line = ''] = /^ExecStart=(.+)$/m.exec(file(/ExecStart=/)) ?? [];
    clone.write('etc/prod/settings', file(/^DATAHUB_GMS_URL=/));
    await clone.sh('mkdir -p state/prod');
    const env = { CREDENTIALS_DIRECTORY: clone.at('etc/prod'), STATE_DIRECTORY: clone.at('state/prod') };
    const started = `set -a; . etc/prod/settings; ${line.replaceAll('%i', 'prod')}`;
    expect(await preview(started, env)).toContain('PREVIEW, nothing was deleted');
  });

  test('what the crontab starts previews into its log', async () => {
    for (const command of take('Or with cron', /install/)) await expectOk(command);
    const [, line = ''] = /^30 3 \* \* \* (.+)$/.exec(file(/^30 3 /)) ?? [];
    await clone.sh(line);
    expect(clone.read('log/prod.log').replace(/\s+/g, ' ')).toContain('PREVIEW, nothing was deleted');
  });

  test('by hand it previews and shows its ledger', async () => {
    const [definition, run, status] = take('By hand');
    defined = `${definition.text}\n`;
    expect((await type(run!)).stdout.replace(/\s+/g, ' ')).toContain('PREVIEW, nothing was deleted');
    expect((await type(status!)).stdout + (await type(status!)).stderr).toContain('state/prod/ledger');
    const [runs] = worklist.take('docs/audit.md', 'The last thirty runs', /^sudo/, 'machine');
    expect((await type(runs)).stdout).toContain('No run that enforces or releases is known');
  });

  test('removes everything', async () => {
    for (const command of take('Remove')) await expectOk(command, { npm_config_prefix: clone.at('../usr') });
    expect(
      ['etc/prod', 'state/prod', '../usr/bin/datahub-retention'].filter((path) => existsSync(clone.at(path))),
    ).toEqual([]);
  });
});

function hasSystemd(): boolean {
  try {
    execFileSync('systemd-analyze', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    console.error('The units are not verified: there is no systemd-analyze.');
    return false;
  }
}

test('no command of the pages is left', () => {
  expect(worklist.left()).toEqual([]);
});
