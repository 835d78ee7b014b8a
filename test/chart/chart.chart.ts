import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import packageManifest from '../../package.json' with { type: 'json' };
import { findTools, type Tools, toolsFolder } from './tools.ts';

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

const policies = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 90 }];

/** Values that people give, and what only they bring about. */
const given: Record<string, object> = {
  'one policy': {},
  'another server, image and policies': {
    image: { repository: 'registry.example.com/datahub-retention', tag: '1.2.3', pullPolicy: 'Always' },
    imagePullSecrets: [{ name: 'registry' }],
    server: { url: 'https://datahub.example.com/api/gms', name: 'prod eu' },
    policies: [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, maxRowsPerRun: 5_000_000 }],
  },
  enforcing: { mode: 'enforce', schedule: '0 2 * * 1-5', timeZone: 'Europe/Berlin', failOn: 'failed' },
  paused: { suspend: true },
  'a chat': { notification: { secretRef: 'webhook', when: 'problems', format: 'json' } },
  'a claim of the cluster': { ledger: { existingClaim: 'retention' } },
  'a token of a secret store, and certificates of a Secret': {
    token: { secretKey: 'gms-token', volume: { csi: { driver: 'secrets-store.csi.k8s.io', readOnly: true } } },
    server: { caVolume: { secret: { secretName: 'company-ca' } } },
  },
  'a gateway with headers and mutual TLS': {
    server: { url: 'https://datahub.example.com/gms', headersSecret: 'gateway', tlsSecret: 'gateway-tls' },
  },
  'a server that asks for no token': { server: { noIdentity: true } },
  'a Role of their own': { rbac: { create: false } },
  metrics: {
    mode: 'enforce',
    metrics: {
      enabled: true,
      volume: { hostPath: { path: '/var/lib/node_exporter' } },
      pushUrl: 'http://pushgateway.monitoring:9091',
    },
  },
  'metrics that end with the pod': { metrics: { enabled: true } },
  OpenShift: { podSecurityContext: { runAsUser: null, runAsGroup: null, fsGroup: null } },
  'a chart around it': {
    enabled: true,
    global: { imageRegistry: 'registry.example.com', imagePullSecrets: ['mirror', { name: 'registry' }] },
    image: { digest: `sha256:${'0'.repeat(64)}` },
    commonLabels: { team: 'data', 'app.kubernetes.io/name': 'not-this' },
    commonAnnotations: { owner: 'data' },
    priorityClassName: 'low',
  },
  'a private authority and a proxy': {
    server: { caConfigMap: 'company-ca' },
    extraEnvs: [{ name: 'HTTPS_PROXY', value: 'http://proxy.example.com:3128' }],
    networkPolicy: {
      enabled: true,
      extraEgress: [{ ports: [{ port: 443, protocol: 'TCP' }] }],
      gmsNamespaceLabels: { 'kubernetes.io/metadata.name': 'gms' },
      dnsNamespaceLabels: { 'kubernetes.io/metadata.name': 'openshift-dns' },
      dnsPort: 5353,
    },
  },
  'a network policy, no account of its own': { networkPolicy: { enabled: true }, serviceAccount: { create: false } },
  'an alert': { alert: { enabled: true, labels: { release: 'monitoring' }, runbookUrl: 'https://wiki.example.com' } },
  'everything about pods': {
    podLabels: { team: 'data', 'app.kubernetes.io/instance': 'not-this' },
    podAnnotations: { 'sidecar.istio.io/inject': 'false' },
    nodeSelector: { 'kubernetes.io/arch': 'arm64' },
    tolerations: [{ key: 'batch', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    resources: { limits: { memory: '512Mi' } },
    fullnameOverride: 'a-name-that-is-far-longer-than-what-a-cron-job-may-be-called',
  },
};

function valuesFile(values: object): string {
  const file = join(folder, 'values.json');
  // A chart has no default policy.
  writeFileSync(file, JSON.stringify({ policies, ...values }));
  return file;
}

function render(values: object = {}, from = chart): { text: string; manifests: Manifest[] } {
  const options = ['--namespace', 'datahub-retention', '--kube-version', releases[0]!, '--values', valuesFile(values)];
  const text = tools.helm('template', 'dh', from, ...options);
  return { text, manifests: parseAllDocuments(text).map((document) => document.toJS()) };
}

/** The scheduled CronJob and its suspended twin. */
function cronJobs(values: object = {}): [scheduled: Manifest, twin: Manifest] {
  const jobs = render(values).manifests.filter(({ kind }) => kind === 'CronJob');
  const isTwin = ({ metadata }: Manifest) => metadata.name.endsWith('-manual');
  return [jobs.find((job) => !isTwin(job)), jobs.find(isTwin)];
}

const podOf = (cronJob: Manifest): Manifest => cronJob.spec.jobTemplate.spec.template.spec;
const containerOf = (cronJob: Manifest): Manifest => podOf(cronJob).containers[0];
const environment = (cronJob: Manifest): Record<string, Manifest> =>
  Object.fromEntries(containerOf(cronJob).env.map(({ name, ...rest }: Manifest) => [name, rest]));

describe.skipIf(found === undefined)('The chart', () => {
  test('has the version of the package', () => {
    const { version, appVersion } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'));
    expect([version, appVersion]).toEqual([packageManifest.version, packageManifest.version]);
  });

  test.each(Object.entries(given))('with %s passes helm lint and the schemas of the API', (_, values) => {
    tools.helm('lint', '--strict', '--kube-version', releases[0]!, chart, '--values', valuesFile(values));
    const { manifests } = render(values);
    // The checker does not know what only Prometheus' operator defines.
    const known = manifests.filter(({ kind }) => kind !== 'PrometheusRule');
    for (const release of releases) tools.check(known.map((each) => JSON.stringify(each)).join('\n---\n'), release);
  });

  test.each<[wrong: object, named: RegExp]>([
    [{ mode: 'enforced' }, /mode/],
    [{ mdoe: 'enforce' }, /mdoe/],
    [{ server: { url: 'datahub-gms:8080' } }, /server.url/],
    [{ policies: [] }, /policies: name at least one index/],
    [{ server: { url: 'http://gms:8080/operations?action=x' } }, /leave out .operations/],
    [{ server: { name: '--' } }, /server.name/],
    [{ image: { digest: 'latest' } }, /image.digest/],
    [{ policies: [{ entityType: 'dataset', aspect: 'operation', retentionDays: 6 }] }, /retentionDays/],
    [{ policies: [{ entityType: 'dataset', aspect: 'operation', retentionDay: 90 }] }, /retentionDay/],
    [{ schedule: 'cron(30 3 * * ? *)' }, /schedule/],
    [{ failOn: 'never' }, /failOn/],
    [{ token: { secretRef: '' } }, /token.secretRef/],
    [{ ledger: { size: '1Gi' } }, /ledger/],
    [{ commonLabels: { cost: 4711 } }, /commonLabels/],
    [{ podLabels: { 'sidecar.istio.io/inject': false } }, /podLabels/],
    [{ podLabels: { team: 'data platform' } }, /podLabels/],
    [{ podAnnotations: { 'linkerd.io/inject': true } }, /podAnnotations/],
    [{ nodeSelector: { gpu: false } }, /nodeSelector/],
    [{ extraEnvs: [{ name: 'HTTPS_PROXY', value: 3128 }] }, /extraEnvs/],
    [{ extraEnvs: [{ name: 'A', value: 'b', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } }] }, /extraEnvs/],
    [{ extraEnvs: { HTTPS_PROXY: 'http://proxy' } }, /extraEnvs/],
    [{ imagePullSecrets: ['registry'] }, /imagePullSecrets/],
    [{ image: { repository: 'registry.example.com/datahub-retention/' } }, /image.repository/],
    [{ image: { tag: '0.1.0 ' } }, /image.tag/],
    [{ global: { imageRegistry: 'registry.example.com/' } }, /global.imageRegistry/],
    [{ server: { url: 'http://user@gms:8080' } }, /server.url/],
    [{ timeZone: 'Local time' }, /timeZone/],
    [{ token: { volume: { csi: {}, emptyDir: {} } } }, /token.volume/],
    [{ networkPolicy: { apiServer: { addresses: ['10.0.0.1'] } } }, /networkPolicy.apiServer/],
    [{ server: { noIdentity: 'true' } }, /server.noIdentity/],
    [{ server: { noIdentity: true }, token: { volume: { emptyDir: {} } } }, /server.noIdentity sends no token/],
    [{ server: { tlsSecret: 'gateway-tls' } }, /server.tlsSecret needs a server.url with https/],
    [
      { server: { url: 'https://datahub.example.com/api/gms' }, networkPolicy: { enabled: true } },
      /networkPolicy: datahub.example.com leaves the cluster/,
    ],
  ])('refuses %j', (wrong, named) => {
    const point = new RegExp(named.source.replace(/^(\w+)\.(?=\w+$)/, '$1[./]'));
    expect(() => render(wrong)).toThrow(point);
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
    expect(containerOf(cronJobs({ mode: 'enforce' })[0]).args).toEqual(['enforce', '--yes']);
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
      DATAHUB_RETENTION_TOKEN_FILE: { value: '/token/token' },
      DATAHUB_RETENTION_LEDGER: { value: 'kubernetes:' },
      DATAHUB_RETENTION_NAME: { value: 'prod' },
      DATAHUB_RETENTION_CRON_JOB: { value: 'dh-datahub-retention' },
      DATAHUB_RETENTION_NAMESPACE: { value: 'datahub-retention' },
      DATAHUB_RETENTION_POLICIES: { value: '/policies/policies.json' },
      DATAHUB_RETENTION_TOKEN_SECRET: { value: 'datahub-retention-token/token' },
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

  test('leaves user and groups to OpenShift where the values say null', () => {
    const { securityContext } = podOf(cronJobs(given['OpenShift'])[0]);
    for (const field of ['runAsUser', 'runAsGroup', 'fsGroup']) expect(securityContext).not.toHaveProperty(field);
    expect(securityContext).toMatchObject({ runAsNonRoot: true });
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

  test('keeps its own labels, by which its network policy and its commands find the pods', () => {
    const [scheduled] = cronJobs(given['everything about pods']);
    expect(scheduled.spec.jobTemplate.spec.template.metadata.labels).toMatchObject({
      team: 'data',
      'app.kubernetes.io/instance': 'dh',
    });
    const [wrapped] = cronJobs(given['a chart around it']);
    expect(wrapped.metadata).toMatchObject({
      labels: { team: 'data', 'app.kubernetes.io/name': 'datahub-retention' },
      annotations: { owner: 'data' },
    });
    expect(containerOf(wrapped).image).toBe(`registry.example.com/datahub-retention@sha256:${'0'.repeat(64)}`);
    expect(podOf(wrapped)).toMatchObject({
      priorityClassName: 'low',
      imagePullSecrets: [{ name: 'mirror' }, { name: 'registry' }],
    });
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
      server: { caVolume: { emptyDir: {} } },
    };
    expect(volumesOf(given).volumes).toMatchObject({ token: { csi: { driver: 'x' } }, ca: { emptyDir: {} } });
    const [, twin] = cronJobs(given);
    expect(environment(twin)).toMatchObject({
      DATAHUB_RETENTION_TOKEN_FILE: { value: '/token/jwt' },
      DATAHUB_RETENTION_CA_FILE: { value: '/ca/ca.crt' },
    });
    expect(environment(twin)['DATAHUB_RETENTION_TOKEN_SECRET']).toBeUndefined();
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
    expect(environment(cronJobs(values)[0])).toMatchObject({
      DATAHUB_RETENTION_LEDGER: { value: '/ledger/datahub-retention' },
    });
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
    /** As the API defines it, for addresses that stand in a rule alone. */
    const reaches = (values: object, { port, labels, namespace, address }: Target): boolean => {
      const enabled = { networkPolicy: { enabled: true, ...values } };
      const { egress } = render(enabled).manifests.find((each) => each?.kind === 'NetworkPolicy').spec;
      const matches = ({ namespaceSelector, podSelector, ipBlock }: Manifest) =>
        ipBlock
          ? ipBlock.cidr === `${address}/32`
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
      [{ port: 80, address: '203.0.113.1' }, false],
    ];
    for (const [target, expected] of all) expect([target, reaches({}, target)]).toEqual([target, expected]);
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
    for (const { metadata } of pods) expect(metadata.annotations['helm.sh/hook']).toBe('test');
  });

  test('gives its own tests the labels and annotations of the pods, which keep sidecars out', () => {
    const pods = render(given['everything about pods']).manifests.filter(({ kind }) => kind === 'Pod');
    for (const { metadata } of pods) {
      expect(metadata.labels).toMatchObject({ team: 'data', 'app.kubernetes.io/instance': 'dh' });
      expect(metadata.annotations).toMatchObject({ 'sidecar.istio.io/inject': 'false', 'helm.sh/hook': 'test' });
    }
  });

  test('passes on what was asked: metrics, chat, and when a Job fails', () => {
    const asked = { ...given['metrics'], ...given['a chat'], failOn: 'failed' };
    expect(containerOf(cronJobs(asked)[0]).args.slice(1)).toEqual([
      '--yes',
      '--fail-on=failed',
      '--notify=problems',
      '--notify-format=json',
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
    expect(notes({ mode: 'enforce' })).toMatch(
      /^datahub-retention DELETES old rows on http:\/\/datahub-datahub-gms\.datahub\.svc:8080/,
    );
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

  test('marks every command that deletes', () => {
    const deleting = notes()
      .split('\n')
      .filter((line) => /: +enforce /.test(line));
    expect(deleting).toHaveLength(2);
    for (const line of deleting) expect(line).toMatch(/\(DELETES\)$/);
  });
});
