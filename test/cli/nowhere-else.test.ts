import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { authority } from '../support/certificates.ts';
import { startGateway } from '../support/gateway.ts';
import { skipped } from '../support/skips.ts';
import { operation, serviceHere } from './here.ts';
import { start } from './processes.ts';

/** What the system shows of a process while it runs, to those who may look: its arguments, its environment, Node's diagnostic report. */

const isLinux = process.platform === 'linux';
if (!isLinux) skipped('What /proc shows of a run is not looked at: this is not Linux.');

const made = authority();
afterAll(made.remove);

describe.skipIf(!isLinux)('While a run goes on', () => {
  /** A run whose identity has every part, each from a file. */
  const running = async () => {
    const here = await serviceHere({ faults: ['delay=300'] });
    const { files, token } = here;
    const { cert, key } = made.issue();
    const [header, password] = ['gateway-value-0123456789', 'a-password-of-this-test'];
    const gateway = await startGateway(here.url, { header, certificate: { cert, key } }, made);
    onTestFinished(gateway.close);
    files.write('crt', cert);
    files.write('key', made.encrypted(key, password));
    files.write('.datahubenv', {
      gms: {
        ...{ server: gateway.url, token, extra_headers: { 'X-Gateway-Key': header } },
        ...{
          client_certificate_path: files.at('crt'),
          client_key_path: files.at('key'),
          client_key_password: password,
        },
      },
    });
    const policies = files.write('policies.json', [operation]);
    const args = ['enforce', '--yes', '--fast', '--policies', policies, '--ca-file', files.write('ca', made.ca)];
    const reports = `--report-on-signal --report-directory=${files.at('.')}`;
    const started = start([...args, ...here.ledger], { HOME: files.at('.'), NODE_OPTIONS: reports });
    while (gateway.got.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    const lines = key.split('\n').filter((line) => line !== '' && !line.startsWith('-----'));
    return { ...here, ...started, secrets: [token, header, password, ...lines] };
  };

  test('neither its arguments, nor its environment, nor a diagnostic report has anything of its identity', async () => {
    const { process: child, ended, files, secrets, sent } = await running();
    const shown = ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${child.pid}/${name}`, 'utf8'));
    child.kill('SIGUSR2');
    expect(await ended).toMatchObject({ status: 0 });
    expect(sent()).toHaveLength(1);
    const reports = readdirSync(files.at('.')).filter((name) => /^report\..*\.json$/.test(name));
    expect(reports).toHaveLength(1);
    const report = readFileSync(join(files.at('.'), reports[0]!), 'utf8');
    expect(JSON.parse(report)).toMatchObject({ header: { processId: child.pid }, environmentVariables: {} });
    for (const text of [...shown, report]) {
      expect(text).toContain(files.at('.'));
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
  });
});
