import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { given, policies } from '../chart/values.ts';
import { type Command, filled, type Placeholder, read } from '../pages/commands.ts';
import { commandsFor, rowsOf, Worklist } from '../pages/executed.ts';
import { type Cluster, findPrograms, startCluster } from './cluster.ts';
import { until } from './control-plane.ts';

/** What docs/kubernetes.md says of pods that do not start, and of OpenShift, on a cluster where it is so. */

const found = findPrograms();
const page = 'docs/kubernetes.md';
const shown = (begins: string): string => read(page).shown.find(({ text }) => text.startsWith(begins))!.text;
const values = parse(shown('image: ').replace('REGISTRY', 'registry.example.com'));

describe.skipIf(found === undefined)('On a cluster', () => {
  let cluster: Cluster;
  const worklist = new Worklist(commandsFor('cluster').filter(({ heading }) => heading === 'Trouble'));

  beforeAll(async () => {
    cluster = await startCluster(found!, 'Helm 4');
    const timestamps = [...rowsOf(1500, 100), ...rowsOf(500, 1)];
    cluster.gms.service.engine.addIndex({ entityType: 'dataset', aspect: 'operation', timestamps });
    cluster.write('token.txt', cluster.gms.token);
    await cluster.type(storeToken);
  });
  afterAll(async () => {
    await cluster?.close();
  });

  const storeToken =
    'kubectl -n datahub-retention create secret generic datahub-retention-token --from-file=token=token.txt';
  const install = (changes: object) => {
    cluster.write('values.yaml', stringify({ ...values, ...changes }));
    return cluster.type(
      'helm upgrade --install retention kubernetes --namespace datahub-retention --values values.yaml',
    );
  };
  const forgetPlace = 'kubectl -n datahub-retention delete configmap datahub-retention-ledger-of-retention';
  let jobs = 0;
  /** Starts a preview; its Job's name. */
  const preview = async (): Promise<string> => {
    const job = `preview-${++jobs}`;
    await cluster.type(
      `kubectl -n datahub-retention create job ${job} --from=cronjob/retention-datahub-retention-manual`,
      'engineer',
    );
    return job;
  };
  const podOf = async (job: string): Promise<string> => {
    let pod = '';
    await until(`a pod of ${job}`, async () => {
      pod = await cluster.type(`kubectl -n datahub-retention get pods -l job-name=${job} -o name`);
      return pod !== '';
    });
    return pod.trim().replace('pod/', '');
  };
  const column = (heading: RegExp): Command => worklist.take(page, 'Trouble', heading)[0];
  const follow = (command: Command, names: Partial<Record<Placeholder, string>>) =>
    cluster.type(filled(command.text, names));
  /** What the page's command says of a pod, once that is there. */
  const described = async (pod: string, reason: RegExp): Promise<string> => {
    let said = '';
    await until(
      () => `${reason} in ${said}`,
      async () => {
        said = await follow(column(/describe pod/), { POD: pod });
        return reason.test(said);
      },
    );
    return said;
  };
  const log = (job: string) => cluster.repeat(`kubectl -n datahub-retention logs -f job/${job}`);

  describe('the table of troubles is right about', () => {
    test.each<[what: string, changes: object, status: RegExp, reason: RegExp]>([
      [
        'a Secret that is missing',
        { token: { secretRef: 'forgotten' } },
        /ContainerCreating/,
        /secret "forgotten" not found/,
      ],
      [
        'a key that the Secret does not have',
        { token: { secretKey: 'value' } },
        /ContainerCreating/,
        /references non-existent secret key: value/,
      ],
      [
        'a Secret of the webhook that is missing',
        { notification: { secretRef: 'webhook' } },
        /ContainerCreating/,
        /secret "webhook" not found/,
      ],
      [
        'a Secret of a variable that is missing',
        { extraEnvs: [{ name: 'PROXY', valueFrom: { secretKeyRef: { name: 'proxy', key: 'url' } } }] },
        /CreateContainerConfigError/,
        /secret "proxy" not found/,
      ],
      [
        'a ConfigMap of certificates that is missing',
        { server: { ...values.server, caConfigMap: 'authority' } },
        /ContainerCreating/,
        /configmap "authority" not found/,
      ],
      [
        'an image that cannot be pulled',
        { image: { repository: 'registry.example.com/another' } },
        /ErrImagePull|ImagePullBackOff/,
        /pulling image "registry.example.com\/another/,
      ],
      [
        'a mark of the ledger that is gone',
        { fullnameOverride: 'retention-datahub-retention' },
        /CreateContainerConfigError/,
        /configmap "datahub-retention-ledger-of-retention" not found/,
      ],
      [
        'a claim that nobody has made',
        { extraVolumes: [{ name: 'mine', persistentVolumeClaim: { claimName: 'elsewhere' } }] },
        /Pending/,
        /persistentvolumeclaim "elsewhere" not found/,
      ],
    ])('%s', async (_, changes, status, reason) => {
      await install(changes);
      if ('fullnameOverride' in changes) await cluster.type(forgetPlace);
      const pod = await podOf(await preview());
      await described(pod, reason);
      expect(await cluster.type(`kubectl -n datahub-retention get pod ${pod}`)).toMatch(status);
    });

    test('a quota that leaves no room, and a Pod Security that refuses the pod: the Job has none', async () => {
      await install({});
      await cluster.type('kubectl -n datahub-retention create quota full --hard=pods=0', 'admin');
      const noRoom = await preview();
      const refused = async (job: string, reason: RegExp) =>
        until(`${reason} at ${job}`, async () => reason.test(await follow(column(/describe job/), { NAME: job })));
      await refused(noRoom, /exceeded quota: full/);
      await cluster.type('kubectl -n datahub-retention delete quota full', 'admin');

      await install({ podSecurityContext: { runAsNonRoot: null } });
      await refused(await preview(), /violates PodSecurity "restricted/);
      await install({});
    });

    test('a Role that is missing: the log says what the API server answered, and what to do', async () => {
      await install({ rbac: { create: false } });
      expect(await log(await preview())).toMatch(
        /Tried to list the records in the ledger .*cannot list resource "configmaps".*\(rbac\.create\)/,
      );
      await install({});
    });

    test('a pod that was waiting: it starts as soon as what it needs is there', async () => {
      await install({ token: { secretRef: 'late' } });
      const job = await preview();
      await described(await podOf(job), /secret "late" not found/);
      await cluster.type(storeToken.replace('datahub-retention-token', 'late'));
      expect(await log(job)).toContain('PREVIEW');
    });

    test('every row with a command', () => {
      expect(worklist.left()).toEqual([]);
    });
  });

  describe('of the values that people give, a server dry run under restricted Pod Security', () => {
    const refused: Record<string, RegExp> = {
      metrics: /violates PodSecurity "restricted:latest".*hostPath/,
      'a chart around it': /no PriorityClass with name low was found/,
      'what a team brings along': /RuntimeClass "gvisor" not found/,
      'a claim of the cluster': /field is immutable/,
      'names of digits': /field is immutable/,
      'labels and annotations that meet': /no matches for kind "PrometheusRule"/,
      'an alert': /no matches for kind "PrometheusRule"/,
    };

    test.each(Object.entries(given))('with %s', async (what, changes) => {
      cluster.write('given.yaml', stringify({ policies, ...changes, serviceAccount: { create: false } }));
      const options = '--namespace datahub-retention --values given.yaml --kube-version 1.34.0';
      const { status, stderr } = await cluster.tryOut(
        `helm template retention kubernetes ${options} | kubectl -n datahub-retention apply --dry-run=server -f -`,
        'admin',
      );
      expect([status, stderr]).toEqual(what in refused ? [1, expect.stringMatching(refused[what]!)] : [0, stderr]);
    });
  });

  describe('with the users and groups of OpenShift', () => {
    const range = { first: 1_000_650_000, size: 10_000 };

    /** A pod that was let in with another group would give the volume to that. */
    const endAllJobs = () => cluster.type('kubectl -n datahub-retention delete jobs --all --cascade=foreground');

    beforeAll(async () => {
      await endAllJobs();
      // restricted-v2 gives each pod the first number of its namespace's range, and admits no other one.
      await cluster.type(
        `kubectl annotate namespace datahub-retention openshift.io/sa.scc.uid-range=${range.first}/${range.size}`,
        'admin',
      );
      const inRange = (field: string) =>
        `!has(object.spec.securityContext.${field}) || (object.spec.securityContext.${field} >= ${range.first} && object.spec.securityContext.${field} < ${range.first + range.size})`;
      const meta = { metadata: { name: 'restricted-v2' } };
      const api = { apiVersion: 'admissionregistration.k8s.io/v1' };
      const pods = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
      const validations = ['runAsUser', 'fsGroup'].map((field) => ({
        expression: inRange(field),
        message: `${field}: Invalid value: must be in the ranges: [${range.first}, ${range.first + range.size - 1}]`,
      }));
      const spec = { matchConstraints: { resourceRules: [pods] }, validations };
      cluster.write('admission.yaml', stringify({ ...api, kind: 'ValidatingAdmissionPolicy', ...meta, spec }));
      const bound = { policyName: 'restricted-v2', validationActions: ['Deny'] };
      cluster.write(
        'binding.yaml',
        stringify({ ...api, kind: 'ValidatingAdmissionPolicyBinding', ...meta, spec: bound }),
      );
      await cluster.type('kubectl apply -f admission.yaml -f binding.yaml', 'admin');
    });

    test('the default values are refused, and the Job says so', async () => {
      await install({});
      let said = '';
      // A policy takes a moment until it is in force.
      await until(
        () => `a refusal: ${said}`,
        async () => {
          said = await cluster.type(`kubectl -n datahub-retention describe job ${await preview()}`);
          return said.includes('runAsUser: Invalid value');
        },
      );
    });

    test("with the page's values it previews, as the user of the namespace", async () => {
      await endAllJobs();
      await install(parse(shown('adaptSecurityContext: ')));
      const job = await preview();
      expect(await log(job)).toContain('PREVIEW');
      const pod = JSON.parse(await cluster.type(`kubectl -n datahub-retention get pod ${await podOf(job)} -o json`));
      expect(pod.spec.securityContext).not.toHaveProperty('runAsUser');
    });

    test("the cluster's API alone does the same", async () => {
      const kind = 'SecurityContextConstraints';
      const names = { kind, plural: kind.toLowerCase(), singular: kind.toLowerCase() };
      const schema = { openAPIV3Schema: { type: 'object' } };
      const spec = {
        group: 'security.openshift.io',
        scope: 'Cluster',
        names,
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      };
      const metadata = { name: `${names.plural}.${spec.group}` };
      const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec };
      cluster.write('api.yaml', stringify(definition));
      await cluster.type('kubectl apply -f api.yaml', 'admin');
      await cluster.type(`kubectl wait --for=condition=Established crd/${metadata.name}`, 'admin');
      let numbers = '65532';
      await until(
        () => `no number in ${numbers}`,
        async () => {
          await install({});
          numbers = await cluster.type('kubectl -n datahub-retention get cronjobs -o yaml | grep -E "65532" || true');
          return numbers === '';
        },
      );
    });

    test('and truncates: its ledger can be written by that user', async () => {
      const enforcing = `kubectl -n datahub-retention create job enforcing --from=cronjob/retention-datahub-retention-manual --dry-run=client -o yaml | kubectl set env --local -f - 'DATAHUB_RETENTION_ARGS=enforce --yes' -o yaml | kubectl -n datahub-retention create -f -`;
      await cluster.type(enforcing);
      expect(await log('enforcing')).toMatch(/operation: truncated, 1,500 of 2,000 rows deleted/);
    });
  });
});
