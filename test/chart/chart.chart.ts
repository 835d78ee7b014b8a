import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { schemaText, valuesSchema } from '../../build/values-schema.ts';
import packageManifest from '../../package.json' with { type: 'json' };
import { publishedDefinitions } from './definitions.ts';
import { findTools, type Tools, toolsFolder } from './tools.ts';
import { given, policies, wrong } from './values.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const chart = join(root, 'kubernetes');
const { folder, remove } = toolsFolder();
afterAll(remove);
const found = findTools(folder);
const tools = found as Tools;

/** The oldest release in which a CronJob's time zone is stable, and the newest that the checker knows. */
const releases = ['1.27.0', '1.37.0'];

// biome-ignore lint/suspicious/noExplicitAny: manifests are whatever Kubernetes takes
type Manifest = any;

function valuesFile(values: object): string {
  const file = join(folder, 'values.json');
  // A chart has no default policy.
  writeFileSync(file, JSON.stringify({ policies, ...values }));
  return file;
}

/** A chart with this one in it, packed as a version with the id of a commit. */
function around(name: string, more: object): string {
  const parent = join(folder, name);
  tools.helm('package', chart, '--version', `0.1.0-${'a'.repeat(64)}`, '--destination', join(parent, 'charts'));
  writeFileSync(join(parent, 'Chart.yaml'), JSON.stringify({ apiVersion: 'v2', name, version: '1.0.0', ...more }));
  return parent;
}

function render(values: object = {}, from = chart, release = 'dh', more: string[] = []) {
  const options = ['--namespace', 'datahub-retention', '--kube-version', releases[0]!, '--values', valuesFile(values)];
  const text = tools.helm('template', release, from, ...options, ...more);
  const documents = parseAllDocuments(text);
  // A key that is there twice, which Helm 3 lets pass.
  for (const error of documents.flatMap(({ errors }) => errors)) throw error;
  return { manifests: documents.map((document) => document.toJS() as Manifest) };
}

/** The scheduled CronJob and its suspended twin. */
function cronJobs(values: object = {}): [scheduled: Manifest, twin: Manifest] {
  const jobs = render(values).manifests.filter(({ kind }) => kind === 'CronJob');
  const isTwin = ({ metadata }: Manifest) => metadata.name.endsWith('-manual');
  return [jobs.find((job) => !isTwin(job)), jobs.find(isTwin)];
}

const podOf = (cronJob: Manifest): Manifest => cronJob.spec.jobTemplate.spec.template.spec;
const containerOf = (cronJob: Manifest): Manifest => podOf(cronJob).containers[0];
/** The variable is of the mark, where it has that place. */
const placed = (key: string) => ({ valueFrom: { configMapKeyRef: { name: 'datahub-retention-ledger-of-dh', key } } });
const environment = (cronJob: Manifest): Record<string, Manifest> =>
  Object.fromEntries(containerOf(cronJob).env.map(({ name, ...rest }: Manifest) => [name, rest]));

describe.skipIf(found === undefined)('The chart', () => {
  test('has the version of the package', () => {
    const { version, appVersion } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'));
    expect([version, appVersion]).toEqual([packageManifest.version, packageManifest.version]);
  });

  test('has the published definitions of the objects of Kubernetes', async () => {
    const file = join(root, valuesSchema);
    const { definitions, ...values } = JSON.parse(readFileSync(file, 'utf8'));
    const own = Object.fromEntries(Object.entries(definitions).filter(([name]) => /^[a-z]/.test(name)));
    const all = { ...own, ...publishedDefinitions({ ...values, own }, tools.definitions) };
    await expect(schemaText({ ...values, definitions: all })).toMatchFileSnapshot(file);
  });

  test.each(Object.entries(given))('with %s passes helm lint and the schemas of the API', (_, values) => {
    tools.helm('lint', '--strict', '--kube-version', releases[0]!, chart, '--values', valuesFile(values));
    const { manifests } = render(values);
    // The checker does not know what only Prometheus' operator defines.
    const known = manifests.filter(({ kind }) => kind !== 'PrometheusRule');
    for (const release of releases) tools.check(known.map((each) => JSON.stringify(each)).join('\n---\n'), release);
  });

  test.each(wrong)('refuses %j', (values, by, named) => {
    let said = '';
    try {
      render(values);
    } catch (error) {
      said = (error as Error).message;
    }
    const isOfSchema = /values don't meet the specifications of the schema/.test(said);
    // Each Helm writes the place of a value differently.
    const point = new RegExp(named.source.replace(/^(\w+)\.(?=\w+$)/, '$1[./]'));
    expect([said, said === '' ? undefined : isOfSchema ? 'schema' : 'chart']).toEqual([
      expect.stringMatching(point),
      by,
    ]);
  });

  test('takes every key without a value as empty, but for those that its schema keeps', () => {
    const { kept } = JSON.parse(readFileSync(join(root, valuesSchema), 'utf8')).definitions;
    const emptied = (values: object, { required = [], properties = {} }: Manifest): object =>
      Object.fromEntries(
        Object.entries(values).map(([key, value]) => {
          if (!required.includes(key)) return [key, null];
          return [key, value?.constructor === Object ? emptied(value, properties[key] ?? {}) : value];
        }),
      );
    const text = readFileSync(join(chart, 'values.yaml'), 'utf8');
    const { manifests } = render({ ...emptied(parse(text), kept), policies });
    tools.check(manifests.map((each) => JSON.stringify(each)).join('\n---\n'), releases[0]!);
  });

  test('previews unless it is told to enforce, and its suspended twin always previews', () => {
    const verbs = (values: object) =>
      cronJobs(values).map((job) => [
        containerOf(job)
          .args.filter((arg: string) => !arg.includes('='))
          .join(' '),
        job.spec.suspend,
      ]);
    expect(verbs({})).toEqual([
      ['preview', undefined],
      ['preview', true],
    ]);
    expect(verbs({ mode: 'enforce' })).toEqual([
      ['enforce --yes', undefined],
      ['preview', true],
    ]);
    // Only then: a field that the chart does not have is left as kubectl has patched it.
    expect(verbs({ suspend: true })[0]).toEqual(['preview', true]);
  });

  test.each(Object.entries(given))('with %s gives a run by hand the pod of a scheduled one', (_, values) => {
    const [scheduled, twin] = cronJobs(values).map((job) => structuredClone(podOf(job)));
    scheduled.containers[0].args = [];
    twin.containers[0].args = [];
    expect(twin).toEqual(scheduled);
  });

  test('keeps server, token, name and ledger in the environment, where other arguments do not replace them', () => {
    const [, twin] = cronJobs();
    expect(environment(twin)).toMatchObject({
      DATAHUB_GMS_URL: { value: 'http://datahub-datahub-gms.datahub.svc:8080' },
      // Which an envFrom does not replace then.
      DATAHUB_GMS_HOST: { value: '' },
      DATAHUB_GMS_PORT: { value: '' },
      DATAHUB_RETENTION_TOKEN_FILE: { value: '/token/token' },
      DATAHUB_RETENTION_LEDGER: placed('ConfigMaps'),
      DATAHUB_RETENTION_NAME: { value: 'prod' },
      DATAHUB_RETENTION_CRON_JOB: { value: 'dh-datahub-retention' },
      // Kustomize and the like may put it elsewhere.
      DATAHUB_RETENTION_NAMESPACE: { valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
      DATAHUB_RETENTION_POLICIES: { value: '/policies/policies.json' },
      DATAHUB_RETENTION_TOKEN_REF: { value: 'datahub-retention-token/token' },
    });
    expect(environment(twin)['DATAHUB_RETENTION_ARGS']).toBeUndefined();
  });

  test('never retries a Job, and ends it only after a run has ended by itself', () => {
    for (const { spec } of cronJobs()) {
      expect(spec.jobTemplate.spec.backoffLimit).toBe(0);
      expect(spec.jobTemplate.spec.activeDeadlineSeconds).toBeGreaterThan(12 * 3600);
      expect(spec.concurrencyPolicy).toBe('Forbid');
    }
  });

  test("runs as the image's user, with a token of its own alone, on a file system that it cannot write", () => {
    const user = Number(/^USER (\d+):\1$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[1]);
    const [scheduled] = cronJobs();
    expect(podOf(scheduled)).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: user, runAsGroup: user, fsGroup: user },
    });
    expect(containerOf(scheduled).securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  test('leaves user and groups to OpenShift, by its API or by one value, also in a parent chart', () => {
    const numbersOf = (values: object = {}, options: string[] = [], from = chart) => {
      const { manifests } = render(values, from, 'dh', options);
      const { securityContext } = podOf(manifests.find(({ kind }) => kind === 'CronJob'));
      expect(securityContext).toMatchObject({ runAsNonRoot: true });
      return ['fsGroup', 'runAsGroup', 'runAsUser'].map((field) => securityContext[field]);
    };
    const openShift = ['--api-versions', 'security.openshift.io/v1'];
    const none = [undefined, undefined, undefined];
    expect(numbersOf()).toEqual([65532, 65532, 65532]);
    expect(numbersOf({}, openShift)).toEqual(none);
    expect(numbersOf({}, ['--set', 'adaptSecurityContext=force'])).toEqual(none);
    expect(numbersOf({ adaptSecurityContext: 'disabled' }, openShift)).not.toEqual(none);
    expect(numbersOf({ podSecurityContext: { runAsUser: 1000 } }, openShift)).toEqual([undefined, undefined, 1000]);
    const values = { 'datahub-retention': { policies, adaptSecurityContext: 'force' } };
    expect(numbersOf(values, [], around('one', {}))).toEqual(none);
  });

  test('has names that Kubernetes takes in a parent chart, whatever its alias, and one ledger for each release', () => {
    const dependencies = ['prod', 'Dev_EU'].map((alias) => ({ name: 'datahub-retention', version: '>=0-0', alias }));
    const { manifests } = render({ prod: { policies }, Dev_EU: { policies } }, around('twice', { dependencies }));
    const names = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    // Installing both fails there: two DataHubs have two namespaces.
    expect(names.filter((name, at) => names.indexOf(name) < at)).toEqual([
      expect.stringMatching(/^ConfigMap\/datahub-retention-ledger-of-/),
    ]);
    const cut = render({}, chart, `${'d'.repeat(43)}.eu`).manifests;
    const wrong = [...manifests, ...cut].filter(({ metadata }) => !/^[a-z0-9-]+(\.[a-z0-9]+)?$/.test(metadata.name));
    expect(wrong).toEqual([]);
    const labels = manifests.flatMap(({ metadata }) => Object.values<string>(metadata.labels));
    expect(labels.filter((label) => label.length > 63)).toEqual([]);
  });

  test('gives a metrics volume exactly one source, whatever it is', () => {
    const volumeOf = (values: object | undefined) =>
      podOf(cronJobs(values ?? {})[0]).volumes.find(({ name }: Manifest) => name === 'metrics');
    expect(volumeOf(given['metrics'])).toEqual({ name: 'metrics', hostPath: { path: '/var/lib/node_exporter' } });
    expect(volumeOf(given['metrics that end with the pod'])).toEqual({ name: 'metrics', emptyDir: {} });
  });

  test('starts a scheduled run again whose node goes, and none by hand', () => {
    const [scheduled, twin] = cronJobs({ mode: 'enforce' });
    const [rule] = scheduled.spec.jobTemplate.spec.podFailurePolicy.rules;
    expect(rule).toEqual({ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] });
    expect(twin.spec.jobTemplate.spec.podFailurePolicy).toBeUndefined();
  });

  test('keeps the logs of runs by hand for the week that a page promises', () => {
    const [, { spec }] = cronJobs();
    expect(spec).toMatchObject({ successfulJobsHistoryLimit: 1000, failedJobsHistoryLimit: 1000 });
    expect(spec.jobTemplate.spec.ttlSecondsAfterFinished).toBe(7 * 24 * 3600);
  });

  test('takes registry, digest, Secrets and priority from the chart around it', () => {
    const [wrapped] = cronJobs(given['a chart around it']);
    expect(containerOf(wrapped).image).toBe(`registry.example.com/datahub-retention@sha256:${'0'.repeat(64)}`);
    expect(podOf(wrapped)).toMatchObject({
      priorityClassName: 'low',
      imagePullSecrets: [{ name: 'mirror' }, { name: 'registry' }],
    });
  });

  test('has labels and annotations once: its own, by which pods are found, then those of one kind, then those of all', () => {
    const { manifests } = render(given['labels and annotations that meet']);
    const of = (name: string) => manifests.find(({ kind }) => kind === name);
    const own = { 'app.kubernetes.io/name': 'datahub-retention', 'app.kubernetes.io/instance': 'dh' };
    const { metadata, spec } = of('PrometheusRule');
    expect(metadata.labels).toMatchObject({ ...own, team: 'alerts' });
    expect(spec.groups[0].rules).toMatchObject([{ labels: { severity: '1' } }, { labels: { severity: '1' } }]);
    expect(of('CronJob').metadata).toMatchObject({ labels: { ...own, team: 'all' }, annotations: { owner: 'all' } });
    const pods = { labels: { ...own, team: 'pods' }, annotations: { owner: 'pods' } };
    const { metadata: ofJob, spec: job } = of('CronJob').spec.jobTemplate;
    expect(job.template.metadata).toMatchObject(pods);
    // Kubernetes would copy them only as long as nobody adds one, as Kustomize does.
    expect(ofJob.labels).toEqual(job.template.metadata.labels);
    // What keeps sidecars out of runs keeps them out of helm test.
    expect(of('Pod').metadata).toMatchObject(pods);
    expect(of('Pod').metadata.annotations['helm.sh/hook']).toBe('test');
    expect(of('ServiceAccount').metadata.annotations.owner).toBe('account');
    const mark = manifests.find(({ immutable }) => immutable);
    expect(mark.metadata.annotations).toMatchObject({ 'argocd.argoproj.io/sync-wave': '-1', owner: 'all' });
    expect(mark.metadata.annotations['helm.sh/resource-policy']).toBe('keep');
  });

  test('names its namespace in each object, so that kubectl applies none of them to another', () => {
    const { manifests } = render({ ...given['an alert'], networkPolicy: { enabled: true } });
    expect(manifests.map(({ metadata }) => metadata.namespace)).toEqual(manifests.map(() => 'datahub-retention'));
  });

  test('mounts token and certificates as files, from the Secret or from any volume', () => {
    const volumesOf = (values: object) => {
      const { volumes, containers } = podOf(cronJobs(values)[0]);
      const paths = containers[0].volumeMounts.map(({ name, mountPath }: Manifest) => [name, mountPath]);
      return { volumes: Object.fromEntries(volumes.map(({ name, ...rest }: Manifest) => [name, rest])), paths };
    };
    const { volumes, paths } = volumesOf({ server: { caConfigMap: 'company-ca' } });
    expect(Object.fromEntries(paths)).toMatchObject({ token: '/token', ca: '/ca' });
    expect(volumes).toMatchObject({
      token: { secret: { secretName: 'datahub-retention-token', items: [{ key: 'token', path: 'token' }] } },
      ca: { configMap: { name: 'company-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    });
    const given = {
      token: { secretKey: 'jwt', volume: { csi: { driver: 'x' } } },
      // An overlay's volume takes the place of the ConfigMap below it.
      server: { caVolume: { emptyDir: {} }, caConfigMap: 'company-ca' },
    };
    expect(volumesOf(given).volumes).toMatchObject({ token: { csi: { driver: 'x' } }, ca: { emptyDir: {} } });
    const [, twin] = cronJobs(given);
    expect(environment(twin)).toMatchObject({
      DATAHUB_RETENTION_TOKEN_FILE: { value: '/token/jwt' },
      DATAHUB_RETENTION_CA_FILE: { value: '/ca/ca.crt' },
    });
    expect(environment(twin)['DATAHUB_RETENTION_TOKEN_REF']).toBeUndefined();
  });

  test('mounts what a gateway wants beside the token, and no token where none is sent', () => {
    const [gateway] = cronJobs(given['a gateway with headers and mutual TLS']);
    expect(environment(gateway)).toMatchObject({
      DATAHUB_RETENTION_TOKEN_FILE: { value: '/token/token' },
      DATAHUB_RETENTION_HEADER_FILE: { value: '/headers/headers' },
      DATAHUB_CLIENT_CERT_PATH: { value: '/tls/tls.crt' },
      DATAHUB_CLIENT_KEY_PATH: { value: '/tls/tls.key' },
    });
    const mountsOf = (job: Manifest) => containerOf(job).volumeMounts.map(({ mountPath }: Manifest) => mountPath);
    expect(mountsOf(gateway)).toEqual(expect.arrayContaining(['/token', '/headers', '/tls']));
    const [, open] = cronJobs(given['a server that asks for no token']);
    expect(environment(open)).toMatchObject({ DATAHUB_RETENTION_NO_IDENTITY: { value: 'true' } });
    expect(JSON.stringify([environment(open), podOf(open).volumes])).not.toMatch(/TOKEN_|datahub-retention-token/);
  });

  test('lets its service account read and write ConfigMaps, and nothing else', () => {
    const { manifests } = render();
    const of = (kind: string) => manifests.find((each) => each?.kind === kind);
    expect(of('Role').rules).toEqual([
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'create', 'update'] },
    ]);
    expect(of('RoleBinding').subjects).toEqual([
      { kind: 'ServiceAccount', name: of('ServiceAccount').metadata.name, namespace: 'datahub-retention' },
    ]);
    const { serviceAccountName, volumes } = podOf(cronJobs()[0]);
    expect(serviceAccountName).toBe(of('ServiceAccount').metadata.name);
    const { projected } = volumes.find(({ name }: Manifest) => name === 'account');
    expect(projected.sources[0]).toEqual({ serviceAccountToken: { path: 'token', expirationSeconds: 3600 } });
  });

  test('needs neither a Role nor a token where the ledger is on a claim', () => {
    const values = given['a claim of the cluster']!;
    expect(render(values).manifests.filter((each) => /^Role/.test(each?.kind))).toEqual([]);
    const { volumes } = podOf(cronJobs(values)[0]);
    expect(volumes.map(({ name }: Manifest) => name)).toEqual(['policies', 'token', 'ledger']);
    expect(environment(cronJobs(values)[0])).toMatchObject({ DATAHUB_RETENTION_LEDGER: placed('claim.retention') });
  });

  test('its network policy lets the job reach GMS, DNS of both kinds and the API server, and nothing else', () => {
    interface Target {
      port: number;
      /** Of a pod. */
      labels?: object;
      namespace?: string;
      address?: string;
    }
    const has = (selector: Manifest, labels: Record<string, string>) =>
      Object.entries(selector.matchLabels).every(([key, value]) => labels[key] === value);
    const isWithin = (cidr: string, address: string) => {
      const [net = '', bits] = cidr.split('/');
      const block = new BlockList();
      block.addSubnet(net, Number(bits), net.includes(':') ? 'ipv6' : 'ipv4');
      return block.check(address);
    };
    /** As the API defines it. */
    const reaches = (values: object, { port, labels, namespace, address }: Target, more = {}): boolean => {
      const enabled = { networkPolicy: { enabled: true, ...values }, ...more };
      const { egress } = render(enabled).manifests.find((each) => each?.kind === 'NetworkPolicy').spec;
      const matches = ({ namespaceSelector, podSelector, ipBlock }: Manifest) =>
        ipBlock
          ? address !== undefined && isWithin(ipBlock.cidr, address)
          : namespace !== undefined &&
            (!namespaceSelector || has(namespaceSelector, { 'kubernetes.io/metadata.name': namespace })) &&
            (!podSelector || has(podSelector, { ...labels }));
      return egress.some(
        ({ to, ports }: Manifest) => ports.some((each: Manifest) => each.port === port) && (!to || to.some(matches)),
      );
    };
    const gms = { port: 8080, namespace: 'datahub', labels: { 'app.kubernetes.io/name': 'datahub-gms' } };
    const apiServer = { port: 6443, address: '10.0.0.1' };
    const all: [Target, boolean][] = [
      [gms, true],
      [{ ...gms, namespace: 'elsewhere' }, false],
      [{ ...gms, labels: { 'app.kubernetes.io/name': 'datahub-frontend' } }, false],
      [{ port: 53, namespace: 'kube-system', labels: {} }, true],
      [{ port: 53, address: '169.254.20.10' }, true],
      [{ port: 53, address: '203.0.113.1' }, false],
      [apiServer, true],
      [{ ...apiServer, address: '203.0.113.1' }, false],
      [{ port: 443, address: '203.0.113.1' }, false],
      [{ port: 80, address: '203.0.113.1' }, false],
    ];
    for (const [target, expected] of all) expect([target, reaches({}, target)]).toEqual([target, expected]);
    // Helm would add these to a default in values.yaml, and no pod has both.
    expect(reaches({ gmsPodLabels: { app: 'gms' } }, { ...gms, labels: { app: 'gms' } })).toBe(true);
    for (const [host, namespace] of [
      ['gms.data.svc.cluster.local.', 'data'],
      ['gms', 'datahub-retention'],
    ]) {
      const server = { url: `http://${host}:8080` };
      expect(reaches({}, { ...gms, namespace }, { server })).toBe(true);
      expect(reaches({}, gms, { server })).toBe(false);
    }
    const narrow = { apiServer: { addresses: ['10.0.0.1/32'] } };
    expect([reaches(narrow, apiServer), reaches(narrow, { ...apiServer, address: '10.0.0.2' })]).toEqual([true, false]);
  });

  test('has nothing that waits for a first run: no claim, and no pod outside of helm test', () => {
    for (const values of Object.values(given)) {
      const kinds = new Set(render(values).manifests.flatMap((each) => (each === null ? [] : [each.kind])));
      for (const kind of ['PersistentVolumeClaim', 'Deployment', 'Job', 'Service']) expect(kinds).not.toContain(kind);
    }
  });

  test('has a test that reads the policies, and one that asks the server', () => {
    const pods = render().manifests.filter(({ kind }) => kind === 'Pod');
    expect(pods.map(({ spec }) => spec.containers[0].args)).toEqual([
      ['validate', '--policies=/policies/policies.json'],
      ['survey'],
    ]);
  });

  test('reads token and webhook from files, whether a Secret or an injector puts them there, and no secret from a variable', () => {
    const { volumes } = podOf(cronJobs(given['a chat'])[0]);
    expect(volumes).toContainEqual({
      name: 'webhook',
      secret: { secretName: 'webhook', items: [{ key: 'url', path: 'url' }] },
    });
    // A run by hand posts what a scheduled one does.
    for (const job of cronJobs(given['a chat'])) {
      expect(environment(job)).toMatchObject({
        DATAHUB_RETENTION_NOTIFY_URL_FILE: { value: '/webhook/url' },
        DATAHUB_RETENTION_NOTIFY: { value: 'problems' },
        DATAHUB_RETENTION_NOTIFY_FORMAT: { value: 'json' },
      });
    }
    const [scheduled] = cronJobs(given['files that an injector brings']);
    expect(podOf(scheduled).volumes.map(({ name }: Manifest) => name)).toEqual(['policies', 'account']);
    expect(environment(scheduled)).toMatchObject({
      DATAHUB_RETENTION_TOKEN_FILE: { value: '/vault/secrets/token' },
      DATAHUB_RETENTION_NOTIFY_URL_FILE: { value: '/vault/secrets/webhook' },
    });
    const nested = { token: { volume: { csi: { driver: 'x' } }, file: '/token/prod/jwt' } };
    const [stored] = cronJobs(nested);
    expect(podOf(stored).volumes).toContainEqual({ name: 'token', csi: { driver: 'x' } });
    expect(environment(stored)).toMatchObject({ DATAHUB_RETENTION_TOKEN_FILE: { value: '/token/prod/jwt' } });
    for (const values of Object.values(given)) {
      expect(
        Object.values(environment(cronJobs(values)[0])).filter(({ valueFrom }) => valueFrom?.secretKeyRef),
      ).toEqual([]);
    }
  });

  test('gives pods and Jobs what a team brings along', () => {
    const values = given['what a team brings along'] as Manifest;
    const jobs = cronJobs(values);
    for (const job of jobs) {
      const { extraVolumes, extraVolumeMounts, envFrom, resources, ...rest } = values;
      expect(podOf(job).volumes).toEqual(expect.arrayContaining(extraVolumes));
      expect(containerOf(job)).toMatchObject({ envFrom });
      expect(containerOf(job).volumeMounts).toEqual(expect.arrayContaining(extraVolumeMounts));
      const { jobAnnotations, ttlSecondsAfterFinished, log, ...ofPod } = rest;
      expect(podOf(job)).toMatchObject(ofPod);
      expect(job.spec.jobTemplate).toMatchObject({
        metadata: { annotations: jobAnnotations },
        spec: { ttlSecondsAfterFinished },
      });
    }
    expect(jobs.map((job) => containerOf(job).args)).toEqual([['preview', '--log=json'], ['preview']]);
  });

  test('gives every run the limits of a stage, and its Job an hour more', () => {
    for (const job of cronJobs(given['limits of a stage'])) {
      expect(environment(job)).toMatchObject({
        DATAHUB_RETENTION_MIN_RETENTION_DAYS: { value: '3' },
        DATAHUB_RETENTION_MAX_RUN_HOURS: { value: '24' },
        DATAHUB_RETENTION_MAX_ROWS_PER_RUN: { value: '5000000' },
      });
      expect(job.spec.jobTemplate.spec.activeDeadlineSeconds).toBe(25 * 3600);
    }
  });

  test('marks where its ledger is, by the release alone, in a ConfigMap that cannot be changed', () => {
    const mark = (values: object) => render(values).manifests.find((each) => each?.immutable);
    const { metadata, data } = mark({ fullnameOverride: 'another' });
    expect([metadata.name, data]).toEqual(['datahub-retention-ledger-of-dh', { ConfigMaps: 'kubernetes:' }]);
    expect(mark(given['a claim of the cluster']!).data).toEqual({ 'claim.retention': '/ledger/datahub-retention' });
  });

  test('passes on what was asked: metrics, chat, and when a Job fails', () => {
    const asked = { ...given['metrics'], ...given['a chat'], failOn: 'failed' };
    expect(containerOf(cronJobs(asked)[0]).args.slice(1)).toEqual([
      '--yes',
      '--fail-on=failed',
      '--metrics-file=/metrics/dh-datahub-retention.prom',
      '--metrics-url=http://pushgateway.monitoring:9091',
    ]);
  });
});

/** helm template does not print the notes, so a copy of the chart carries them as data. */
function notes(values: object = {}): string {
  const copy = join(folder, 'chart');
  cpSync(chart, copy, { recursive: true });
  cpSync(join(chart, 'templates/NOTES.txt'), join(copy, 'notes'));
  writeFileSync(join(copy, 'templates/notes.yaml'), 'notes: {{ tpl (.Files.Get "notes") . | toJson }}\n');
  return render(values, copy).manifests.find((each) => each?.notes !== undefined).notes;
}

/** Its commands are typed into a shell by test:cluster. */
describe.skipIf(found === undefined)('What helm prints after an installation', () => {
  test('says whether it deletes', () => {
    expect(notes()).toMatch(/previews at "30 3 \* \* \*" \(Etc\/UTC\) and changes nothing/);
    expect(notes({ mode: 'enforce' })).toMatch(/^datahub-retention DELETES old rows on http:\/\/datahub-datahub-gms\./);
  });

  test('names the Secret, the namespace and the twin that are there', () => {
    const text = notes();
    expect(text).toContain(
      'kubectl -n datahub-retention create secret generic datahub-retention-token --from-file=token=token.txt',
    );
    const twins = [...text.matchAll(/--from=cronjob\/(\S+)/g)].map(([, name]) => name);
    expect(new Set(twins)).toEqual(new Set([cronJobs()[1].metadata.name]));
    expect(text.split('\n').filter((line) => / kubectl (create|patch|get|logs)/.test(line))).toEqual([]);
  });

  test('warns where a network policy blocks what the values ask for', () => {
    const enabled = { networkPolicy: { enabled: true } };
    const blocked = /WARNING: networkPolicy blocks the webhook/;
    expect(notes({ ...given['a chat'], ...enabled })).toMatch(blocked);
    expect(notes(enabled)).not.toMatch(blocked);
    const allowed = { networkPolicy: { enabled: true, extraEgress: [{ ports: [{ port: 443 }] }] } };
    expect(notes({ ...given['a chat'], ...allowed })).not.toMatch(blocked);
  });

  test('marks every command that deletes', () => {
    const deleting = notes().match(/^.*: +enforce .*$/gm) ?? [];
    expect(deleting).toHaveLength(2);
    for (const line of deleting) expect(line).toMatch(/\(DELETES\)$/);
  });
});
