import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { read } from '../pages/commands.ts';
import { rowsOf } from '../pages/executed.ts';
import { realTruncates } from '../simulated-gms/simulation/exchange.ts';
import { authority, type Issued } from '../support/certificates.ts';
import { type Gateway, startGateway, type Wants } from '../support/gateway.ts';
import { type Cluster, findPrograms, startCluster } from './cluster.ts';
import { until } from './control-plane.ts';

/** The chart behind a gateway that asks for a header, a client certificate, or both, and before a server that asks for nothing. */

const found = findPrograms();
const shown = read('docs/kubernetes.md').shown.find(({ text }) => text.startsWith('image: '))!.text;
const values = parse(shown.replace('REGISTRY', 'registry.example.com'));
const secret = 'gateway-value-0123456789';
const renewedSecret = 'renewed-value-9876543210';
const policy = { entityType: 'dataset', aspect: 'operation', retentionDays: 90, maxDeletePercent: 100 };

describe.skipIf(found === undefined)('On a cluster', () => {
  const made = authority();
  const [own, renewed] = [made.issue(10), made.issue()];
  let cluster: Cluster;
  let gateway: Gateway | undefined;
  let jobs = 0;

  const addRows = (count: number) => cluster.gms.service.engine.addRows('dataset.operation', rowsOf(count, 100));
  /** Creates a Secret or a ConfigMap, or replaces what it holds. */
  const store = (what: string) =>
    cluster.type(`kubectl -n datahub-retention create ${what} --dry-run=client -o yaml | kubectl apply -f -`);
  const storeHeaders = (value: string) => {
    cluster.write('headers.txt', `X-Tenant: acme\nX-Gateway-Key: ${value}\n`);
    return store('secret generic gateway-headers --from-file=headers=headers.txt');
  };
  const storeCertificate = ({ cert, key }: Issued) => {
    cluster.write('tls.crt', cert);
    cluster.write('tls.key', key);
    return store('secret tls gateway-tls --cert=tls.crt --key=tls.key');
  };

  beforeAll(async () => {
    cluster = await startCluster(found!, 'Helm 4');
    cluster.gms.service.engine.addIndex({ entityType: 'dataset', aspect: 'operation', timestamps: [] });
    cluster.write('token.txt', cluster.gms.token);
    await store('secret generic datahub-retention-token --from-file=token=token.txt');
    cluster.write('ca.crt', made.ca);
    await store('configmap authority --from-file=ca.crt');
    await storeHeaders(secret);
    await storeCertificate(own);
  });
  afterAll(async () => {
    await gateway?.close();
    await cluster?.close();
    made.remove();
  });

  /** Installs the chart for a gateway that wants this. */
  const installBehind = async (wants: Wants, server: object) => {
    await gateway?.close();
    gateway = await startGateway(`http://${cluster.gms.address}:8080`, wants, made);
    const url = gateway.url.replace('127.0.0.1', 'gateway.example.com');
    const policies = [policy];
    cluster.write(
      'values.yaml',
      stringify({ ...values, policies, server: { ...values.server, url, caConfigMap: 'authority', ...server } }),
    );
    await cluster.type('helm upgrade --install retention kubernetes -n datahub-retention --values values.yaml');
    return gateway;
  };
  const start = async (words: string): Promise<string> => {
    const job = `run-${++jobs}`;
    await cluster.type(
      `kubectl -n datahub-retention create job ${job} --from=cronjob/retention-datahub-retention-manual --dry-run=client -o yaml | kubectl set env --local -f - "DATAHUB_RETENTION_ARGS=${words}" -o yaml | kubectl -n datahub-retention create -f -`,
    );
    return job;
  };
  const logOf = async (job: string): Promise<string> =>
    (await cluster.repeat(`kubectl -n datahub-retention logs -f job/${job}`)).replace(/\s+/g, ' ');
  const run = async (words: string) => logOf(await start(words));
  /** The real truncates that GMS was asked for. */
  const truncates = () => realTruncates(cluster.gms.service.engine.asked).length;
  const verbs = ['survey', 'preview', 'enforce --yes'];

  describe('a gateway that wants both', () => {
    const wants = { header: secret, certificate: own };
    const both = { headersSecret: 'gateway-headers', tlsSecret: 'gateway-tls' };

    test('lets survey, preview and enforce through with them, and has the token as well', async () => {
      const { got } = await installBehind(wants, both);
      addRows(300);
      const before = truncates();
      const [survey, preview, enforce] = [await run(verbs[0]!), await run(verbs[1]!), await run(verbs[2]!)];
      expect(survey).toMatch(/Headers X-Tenant, X-Gateway-Key sent, and needed/);
      expect(survey).toMatch(/Certificate sent, and needed; expires in 9 days/);
      expect(preview).toMatch(/Subject: .*PREVIEW/);
      expect([enforce, truncates() - before]).toEqual([expect.stringMatching(/operation.*truncated/), 1]);
      for (const log of [survey, preview, enforce]) expect(log).not.toContain(secret);
      // The survey also finds out what is not needed.
      expect(got.filter(({ headers }) => headers.authorization !== undefined).length).toBeGreaterThan(5);
    });

    test.each<[string, Wants, RegExp]>([
      ['headers', { header: secret }, /takes a header.*, give this job one \(server\.headersSecret in the chart's/],
      [
        'tls',
        { certificate: own },
        /client certificate.*Give this job one \(server\.tlsSecret in the chart's values\)/,
      ],
    ])('lets nothing through without its %s, and says where that is given', async (_, asked, sentence) => {
      await installBehind(asked, {});
      const before = truncates();
      expect([await run('enforce --yes'), truncates() - before]).toEqual([expect.stringMatching(sentence), 0]);
    });

    test('has both renewed in the middle of a run, which takes them from its Secrets', async () => {
      const { wants: _, ...now } = await installBehind(wants, both);
      addRows(3000);
      cluster.gms.service.engine.fault('rows-per-second=300');
      const before = truncates();
      const job = await start('enforce --yes');
      await until('a truncation', () => truncates() - before === 1);
      await storeHeaders(renewedSecret);
      await storeCertificate(renewed);
      gateway!.wants = { header: renewedSecret, certificate: renewed };
      expect([await logOf(job), truncates() - before]).toEqual([expect.stringMatching(/operation.*truncated/), 1]);
      const last = now.got.at(-1)!;
      expect([last.headers['x-gateway-key'], last.shown?.trim()]).toEqual([renewedSecret, renewed.cert.trim()]);
    });
  });

  test('server.noIdentity works for survey, preview and enforce where the server asks for no token, and sends none', async () => {
    const { got } = await installBehind({ open: cluster.gms.token }, { noIdentity: true });
    addRows(300);
    const before = truncates();
    expect(await run(verbs[0]!)).toMatch(/Anyone who reaches this port can delete rows, too/);
    expect(await run(verbs[1]!)).toMatch(/Subject: .*PREVIEW/);
    expect([await run(verbs[2]!), truncates() - before]).toEqual([expect.stringMatching(/operation.*truncated/), 1]);
    expect(got.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
  });
});
