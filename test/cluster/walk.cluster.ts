import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { type Command, commandsOfNotes, filled, type Placeholder, read } from '../pages/commands.ts';
import { commandsFor, rowsOf, Worklist } from '../pages/executed.ts';
import { realTruncates } from '../simulated-gms/simulation/exchange.ts';
import { listening, textOf } from '../support/loopback.ts';
import { type Cluster, findPrograms, laterVersion, startCluster } from './cluster.ts';
import { type Person, until } from './control-plane.ts';
import { helmVersions } from './programs.ts';

/**
 * The pages, followed by two people on a cluster: who installs, and who is on call with the role of docs/kubernetes.md. A
 * step takes its command from the page and needs the steps before it; at the end no command may be left.
 */

const found = findPrograms();
const kubernetes = 'docs/kubernetes.md';
const operate = 'docs/operate.md';
const notesPage = 'kubernetes/templates/NOTES.txt';
const day = 86_400_000;

const blockOf = (page: string, begins: string): string =>
  read(page).shown.find(({ text }) => text.startsWith(begins))!.text;

describe.skipIf(found === undefined).each(helmVersions)('The pages, followed with %s', (version) => {
  let cluster: Cluster;
  // trouble.cluster.ts does what is below the last heading.
  const worklist = new Worklist(commandsFor('cluster').filter(({ heading }) => heading !== 'Trouble'));
  // biome-ignore lint/suspicious/noExplicitAny: what a person writes into values.yaml
  let values: any;
  const logs: Record<string, string> = {};
  const posted: string[] = [];
  const chat = createServer(async (asked, answer) => {
    posted.push(await textOf(asked));
    answer.end('ok');
  });

  beforeAll(async () => {
    cluster = await startCluster(found!, version);
    const { engine } = cluster.gms.service;
    engine.addIndex({
      entityType: 'dataset',
      aspect: 'operation',
      timestamps: [...rowsOf(43_000, 100), ...rowsOf(37_000, 1)],
    });
    engine.addIndex({
      entityType: 'dataset',
      aspect: 'datasetProfile',
      timestamps: [...rowsOf(20_000, 100), ...rowsOf(10_000, 1)],
    });
    cluster.write('token.txt', cluster.gms.token);
  });
  afterAll(async () => {
    chat.close();
    await cluster?.close();
  });

  /** Types what a page says. */
  const follow = (command: Command, names: Partial<Record<Placeholder, string>> = {}, who: Person = 'onCall') =>
    cluster.type(filled(command.text, names), who);
  /** Edits values.yaml and upgrades as a page says. */
  const upgrade = async (changes: object, heading = 'Add an index') => {
    values = { ...values, ...changes };
    cluster.write('values.yaml', stringify(values));
    const where = heading === 'Move the server' ? undefined : 'Kubernetes';
    return follow(worklist.take(operate, heading, /^helm upgrade/, where)[0], {}, 'engineer');
  };

  /** Follows a log as soon as there is one. */
  const logOf = async (job: string): Promise<string> => {
    const [command] = worklist.take(operate, 'Operate', /^kubectl -n datahub-retention logs/);
    const log = await cluster.repeat(filled(command.text, { NAME: job }), 'onCall');
    logs[job] = log;
    return log;
  };
  const jobs = async () =>
    // biome-ignore lint/suspicious/noExplicitAny: whatever Kubernetes answers
    JSON.parse(await cluster.type('kubectl -n datahub-retention get jobs -o json')).items as any[];
  /** Whether a Job has succeeded, once it has ended. */
  const hasSucceeded = async (name: string): Promise<boolean> => {
    let succeeded: boolean | undefined;
    await until(`the end of ${name}`, async () => {
      const { status } = (await jobs()).find(({ metadata }) => metadata.name === name);
      const types = (status.conditions ?? []).map(({ type }: { type: string }) => type);
      succeeded = types.includes('Complete') ? true : types.includes('Failed') ? false : undefined;
      return succeeded !== undefined;
    });
    return succeeded!;
  };

  interface Ran {
    job: string;
    log: string;
    succeeded: boolean;
  }

  /** Runs a command that starts a Job by hand. Returns its name. */
  const begin = async (command: string): Promise<string> => {
    const [definition] = worklist.take(operate, 'Operate', /^by_hand\(\)/);
    const printed = await cluster.type(`${definition.text}\n${command}`, 'onCall');
    return /^job\.batch\/(\S+) created$/m.exec(printed)![1]!;
  };
  /** The same, to its end. */
  const byHand = async (command: string): Promise<Ran> => {
    const job = await begin(command);
    const log = await logOf(job);
    return { job, log, succeeded: await hasSucceeded(job) };
  };
  const byHandAs = (heading: string, text = /^by_hand/) =>
    byHand(worklist.take(operate, heading, text, 'Kubernetes')[0].text);
  const isSuspended = () =>
    follow(worklist.take(operate, 'Pause', /^kubectl -n datahub-retention get cronjob .*jsonpath/, 'Kubernetes')[0]);
  /** The real truncates that GMS was asked for. */
  const truncates = (aspect: string) =>
    realTruncates(cluster.gms.service.engine.asked).filter(
      ({ body }) => (body as { aspect?: string }).aspect === aspect,
    );

  const pause = () => follow(worklist.take(operate, 'Pause', /^kubectl -n datahub-retention patch/, 'Kubernetes')[0]);
  /** The commands in a message. */
  const offeredBy = (log: string, text: RegExp): string[] =>
    [...log.matchAll(/^ +(kubectl .*)$/gm)].flatMap(([, command]) => (text.test(command!) ? command! : []));

  let notes: Worklist;
  /** The Jobs that were there when the node was drained. */
  let drained: string[];

  test('installs, and what helm prints names what is there', async () => {
    expect(cluster.typed).toContain(worklist.take(kubernetes, 'Deploy', /create namespace/)[0].text);
    await follow(worklist.take(kubernetes, 'Deploy', /create secret/)[0], {}, 'engineer');
    const [showValues, showReadme] = worklist.take(kubernetes, 'Deploy', /^helm show/);
    expect(parse(await follow(showValues))).toMatchObject({ mode: 'preview' });
    expect(await follow(showReadme!)).toContain('| `server.url` |');
    const block = blockOf(kubernetes, 'image: ').replace('REGISTRY', 'registry.example.com');
    values = parse(block);
    cluster.write('values.yaml', block);
    const printed = await follow(worklist.take(kubernetes, 'Deploy', /^helm upgrade/)[0], {}, 'engineer');
    notes = new Worklist(commandsOfNotes(printed));
    expect(printed).toContain('changes nothing (mode: preview)');
  });

  test('is installed with --wait and --atomic within seconds, although claims wait for their first consumer', async () => {
    const install = worklist.take(kubernetes, 'Deploy', /^helm upgrade/)[0].text;
    await cluster.type('helm uninstall retention --namespace datahub-retention', 'engineer');
    const before = Date.now();
    await cluster.type(`${install} --wait --${version === 'Helm 3' ? 'atomic' : 'rollback-on-failure'} --timeout 60s`);
    console.info(`${version}: installed and ready after ${((Date.now() - before) / 1000).toFixed(1)} s`);
  });

  test('helm test reads the policies and asks the server', async () => {
    const printed = await follow(worklist.take(kubernetes, 'Deploy', /^helm test/)[0], {}, 'engineer');
    expect(printed.match(/Phase: +Succeeded/g)).toHaveLength(2);
    expect(printed).toContain('dataset.operation');
  });

  test('previews, and the Job succeeds', async () => {
    await follow(worklist.take(kubernetes, 'Deploy', /create job first-preview/)[0], {}, 'engineer');
    const log = await follow(worklist.take(kubernetes, 'Deploy', /^until/)[0], {}, 'engineer');
    expect(log).toMatch(/Subject: \[DataHub retention\] PREVIEW prod/);
    await hasSucceeded('first-preview');
    expect(await follow(worklist.take(kubernetes, 'Deploy', /get job first-preview/)[0], {}, 'engineer')).toContain(
      '1/1',
    );
  });

  test('gives the person on call what operate.md asks for, and nothing else', async () => {
    cluster.write('role.yaml', blockOf(kubernetes, 'kind: Role'));
    await cluster.type('kubectl apply -f role.yaml', 'engineer');
    const can = async (what: string) =>
      (await cluster.tryOut(`kubectl -n datahub-retention auth can-i ${what}`, 'onCall')).stdout.trim();
    for (const what of ['get secrets', 'create pods', 'delete cronjobs', 'delete configmaps', 'update configmaps']) {
      expect([what, await can(what)]).toEqual([what, 'no']);
    }
    for (const what of ['patch cronjobs', 'get configmaps']) expect([what, await can(what)]).toEqual([what, 'yes']);
  });

  test('runs what can be run by hand, and refuses nothing that a table names', async () => {
    const [status] = worklist.take(kubernetes, 'Runs by hand', /^kubectl -n datahub-retention create job/);
    expect((await byHand(status.text)).log).toContain('It has no record');
    const verbs = worklist.take(kubernetes, 'Runs by hand', /^(?:status|survey|preview|runbook)\b/);
    verbs.push(...notes.take(notesPage, '', /^(?:survey|preview|runbook)\b/));
    for (const { text } of verbs) expect([text, (await byHand(`by_hand ${text}`)).succeeded]).toEqual([text, true]);
    expect((await byHand(worklist.take(operate, 'Add an index', /^by_hand survey/)[0].text)).succeeded).toBe(true);
    cluster.write(
      'values.yaml',
      stringify({ ...values, policies: [{ entityType: 'dataset', aspect: 'operation', retentionDays: 60 }] }),
    );
    const change = await byHand(worklist.take(operate, 'Change a policy', /^kubectl/)[0].text);
    expect(change.log).toMatch(/PREVIEW OF A CHANGE[\s\S]* policy for dataset\.operation: retentionDays 60/);
    cluster.write('values.yaml', stringify(values));
    const [ofNotes] = notes.take(notesPage, '', /ARGS=status/);
    expect(await cluster.type(ofNotes.text, 'onCall')).toMatch(/^job.batch\/retention-\S+ created$/m);
    const [list] = notes.take(notesPage, '', /get cronjob,jobs/);
    expect(await cluster.type(list.text, 'onCall')).toContain('cronjob.batch/retention-datahub-retention-manual');
  });

  test('a scheduled run goes on where a drained node has stopped it', async () => {
    cluster.write('webhook.txt', `${(await listening(chat)).url}/`);
    await follow(worklist.take(kubernetes, 'Messages', /create secret/)[0], {}, 'engineer');
    cluster.gms.service.engine.fault('rows-per-second=1500');
    const second = { entityType: 'dataset', aspect: 'datasetProfile', retentionDays: 90, maxDeletePercent: 90 };
    const policies = [{ ...values.policies[0], maxDeletePercent: 50 }, second];
    await upgrade({
      mode: 'enforce',
      schedule: '* * * * *',
      policies,
      ...parse(blockOf(kubernetes, 'notification: ')),
    });
    await until('a truncation', () => truncates('datasetProfile').length === 1);
    const [scheduled] = (await jobs()).filter(({ metadata }) =>
      metadata.ownerReferences.some(({ name }: { name: string }) => name === 'retention-datahub-retention'),
    );
    const { name } = scheduled.metadata;
    const stopped = cluster.tryOut(`kubectl -n datahub-retention logs -f job/${name}`);
    drained = (await jobs()).map((job) => job.metadata.name);
    await pause();
    await cluster.type('kubectl drain node-1 --force', 'admin');
    expect((await stopped).stdout).toContain('holds no record, so this counts as the first run');
    expect((await stopped).stdout).toContain('the server goes on without this program');
    await cluster.type('kubectl uncordon node-1', 'admin');
    await until('another pod', async () => (await logOf(name)).includes('Subject:'));
    expect(logs[name]).toMatch(/dataset\.datasetProfile.*truncated/);
    expect(truncates('datasetProfile')).toHaveLength(1);
    // The other index is above its ceiling, which somebody has to see.
    expect(await hasSucceeded(name)).toBe(false);
    expect(posted.join()).toContain('dataset.operation');
    expect(await follow(worklist.take(operate, 'Has it run?', /./, 'Kubernetes')[0])).toContain(name);
  });

  test('a pause by kubectl survives an upgrade', async () => {
    expect(await isSuspended()).toBe('true');
    await upgrade({ schedule: '30 3 * * *' }, 'Upgrade this job');
    expect(await isSuspended()).toBe('true');
    await cluster.type(notes.take(notesPage, '', /"suspend":false/)[0].text, 'onCall');
    expect(await isSuspended()).toBe('false');
  });

  test('where values and kubectl have paused it, both resume it', async () => {
    const resume = () => cluster.type(notes.take(notesPage, '', /"suspend":false/)[0].text, 'onCall');
    await pause();
    await upgrade({ suspend: true });
    await resume();
    expect(await isSuspended()).toBe('false');
    // The values say otherwise, and Helm 4 asks who is right.
    if (version === 'Helm 3') {
      await upgrade({});
      expect(await isSuspended()).toBe('true');
      await resume();
    } else {
      await expect(upgrade({})).rejects.toThrow('conflict with "kubectl-patch" using batch/v1: .spec.suspend');
    }
    await upgrade({ suspend: false });
    expect(await isSuspended()).toBe('false');
  });

  test('a token that is not valid any more is replaced by the command of the message', async () => {
    cluster.gms.token = 'the-second-token';
    cluster.write('token.txt', cluster.gms.token);
    const refused = await byHandAs('Preview');
    expect([refused.succeeded, refused.log]).toEqual([false, expect.stringContaining('401')]);
    const [command] = offeredBy(refused.log, /create secret/);
    await cluster.type(command!, 'engineer');
    expect((await byHandAs('Preview')).log).toContain('nothing was deleted');
    await follow(worklist.take(operate, 'Rotate the token', /^kubectl/)[0], {}, 'engineer');
  });

  test('a token that is replaced while a run goes on is taken by that run', async () => {
    cluster.gms.service.engine.fault('delay=1500');
    const job = await begin('by_hand preview');
    const asked = cluster.gms.service.engine.asked.length;
    await until('its first request', () => cluster.gms.service.engine.asked.length > asked);
    cluster.write('token.txt', 'the-third-token');
    await follow(worklist.take(operate, 'Rotate the token', /^kubectl/)[0], {}, 'engineer');
    // The node refreshes its volumes each second, a real one each minute.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    cluster.gms.token = 'the-third-token';
    cluster.gms.service.engine.set({ delayMillis: 0 });
    expect(await logOf(job)).toMatch(/Subject: .*PREVIEW/);
    expect(logs[job]).not.toContain('401');
  });

  test('what a ceiling blocks is approved by the command of the message, and of the page', async () => {
    cluster.gms.service.engine.fault('rows-per-second=10000');
    const [command] = offeredBy(Object.values(logs).join('\n'), /--approve-rows/);
    expect(command).toContain('--approve-rows 45150');
    const approved = await byHand(command!);
    expect([approved.succeeded, approved.log]).toEqual([true, expect.stringMatching(/operation.*truncated/)]);
    expect((await byHandAs('Approve')).log).toContain('nothing to delete');
    expect(truncates('operation')).toHaveLength(1);
  });

  test('an index is quarantined', async () => {
    const { engine } = cluster.gms.service;
    engine.addRows('dataset.operation', rowsOf(5000, 100));
    engine.fault('rows-per-second=500');
    const running = byHand('by_hand enforce dataset.operation --yes');
    await until('a second truncation', () => truncates('operation').length === 2);
    let left = 945;
    engine.removeRows('dataset.operation', ({ timestamp }) => timestamp > Date.now() - 30 * day && left-- > 0);
    expect((await running).log).toMatch(/ROWS MISSING/);
    expect((await byHandAs('What is under way')).log).toContain('QUARANTINED');
  });

  describe('with that index quarantined, and a Job that waits for a task of the other', () => {
    const truncationSeconds = 120;
    let job: string;
    let revision: string;
    // biome-ignore lint/suspicious/noExplicitAny: as in values.yaml
    let image: any;

    const startWaiting = async () => {
      const rows = rowsOf(3000, 100);
      cluster.gms.service.engine.addRows('dataset.datasetProfile', rows);
      cluster.gms.service.engine.fault(`rows-per-second=${rows.length / truncationSeconds}`);
      job = await begin('by_hand enforce dataset.datasetProfile --yes');
      await until('its task', async () => (await byHandAs('What is under way')).log.includes('under way'));
    };
    const endTask = () => cluster.gms.passTime(truncationSeconds * 1000);
    /** What a preview says of both, and which version it names. */
    const expectBoth = async (version: RegExp) => {
      const { log } = await byHandAs('Preview');
      for (const found of ['dataset.datasetProfile: still running', 'dataset.operation: quarantined'])
        expect(log).toContain(found);
      expect(log).toMatch(version);
    };

    test('an upgrade: the newer version finds both, and ends nothing', async () => {
      await startWaiting();
      const history = await follow(worklist.take(operate, 'Go back', /^helm history/)[0], {}, 'engineer');
      revision = history.trim().split('\n').at(-1)!.split(/\s/)[0]!;
      ({ image } = values);
      await upgrade({ image: { ...image, tag: laterVersion } }, 'Upgrade this job');
      await expectBoth(/Version 9\.9\.9\./);
      expect(truncates('datasetProfile')).toHaveLength(2);
    });

    test('a run that has started can be ended, and its task is left to another', async () => {
      const [end, list] = worklist.take(operate, 'Pause', /^kubectl -n datahub-retention (?:delete|get) job/);
      expect(await follow(list!)).toContain(job);
      await follow(end, { NAME: job });
      expect(await follow(list!)).not.toContain(job);
    });

    test('the wait of the page verifies what the older version has sent, and truncates nothing', async () => {
      endTask();
      await pause();
      const [first, second] = values.policies;
      await upgrade({ policies: [first, { ...second, enabled: false }] }, 'Wait until nothing is unresolved');
      const before = cluster.gms.service.engine.asked.length;
      const { log } = await byHandAs('Wait until nothing is unresolved');
      expect(log).toContain('dataset.datasetProfile: truncated');
      const real = realTruncates(cluster.gms.service.engine.asked.slice(before));
      expect(real).toEqual([]);
      await upgrade({ policies: [first, second] });
    });

    test('back by the command of the page: the older version finds both, and the Job ends as the newer one', async () => {
      await startWaiting();
      const [back] = worklist.take(operate, 'Go back', /^helm rollback/, 'Kubernetes');
      await follow(back, { REVISION: revision }, 'engineer');
      values = { ...values, image };
      await expectBoth(/Version (?!9\.9\.9)/);
      endTask();
      expect(await logOf(job)).toMatch(/dataset\.datasetProfile: truncated[\s\S]*Version 9\.9\.9\./);
      expect(truncates('datasetProfile')).toHaveLength(3);
    });
  });

  test('a quarantined index is released by the command of the page', async () => {
    const refused = await byHandAs('Release', /dataset\.operation$/);
    expect([refused.succeeded, refused.log]).toEqual([false, expect.stringContaining('945 rows are missing')]);
    // The message offers the same, and a preview; a release that is granted ends well.
    const ofMessage = async (text: RegExp) => byHand(offeredBy(Object.values(logs).join('\n'), text).at(-1)!);
    expect((await ofMessage(/ARGS=release dataset\.operation'/)).log).toContain('945 rows are missing');
    const accepted = await ofMessage(/--accept-missing 945/);
    expect([accepted.succeeded, accepted.log]).toEqual([true, expect.stringContaining('Released: dataset.operation')]);
    expect((await byHandAs('Release', /accept-missing/)).log).toContain('Nothing to release: dataset.operation');
    expect((await ofMessage(/ARGS=preview/)).succeeded).toBe(true);
    expect((await byHand('by_hand status')).log).not.toContain('QUARANTINED');
    // The same with the verbs of the tables; by now there is nothing to delete, and nothing to release.
    const deciding = /^(?:enforce|release)\b/;
    const verbs = [...worklist.take(kubernetes, 'Runs by hand', deciding), ...notes.take(notesPage, '', deciding)];
    for (const { text } of verbs) expect([text, (await byHand(`by_hand ${text}`)).succeeded]).toEqual([text, true]);
  });

  test("waits for the Jobs of DataHub's own upgrade", async () => {
    await cluster.type('kubectl create namespace datahub', 'admin');
    for (const name of ['datahub-system-update', 'datahub-system-update-nonblk']) {
      // Any program that ends well does: DataHub's own is not here.
      await cluster.type(
        `kubectl create job ${name} --image=registry.example.com/datahub-retention:1 --dry-run=client -o yaml | kubectl set env --local -f - DATAHUB_RETENTION_ARGS=runbook -o yaml | kubectl -n datahub create -f -`,
        'admin',
      );
    }
    const [command] = worklist.take(operate, 'Upgrade DataHub', /^kubectl/);
    // Who upgrades DataHub may read its namespace; the person on call for this job need not.
    expect(await follow(command, {}, 'admin')).toContain('datahub-system-update-nonblk condition met');
    await cluster.type('kubectl delete namespace datahub', 'admin');
  });

  test('keeps the log of every run by hand', async () => {
    // A drain removes the pods that have ended, too, and with them their logs.
    const kept = (await jobs()).filter(
      ({ metadata }) => /^retention-[0-9a-f]{8}$/.test(metadata.name) && !drained.includes(metadata.name),
    );
    expect(kept.length).toBeGreaterThanOrEqual(6);
    const again = await Promise.all(kept.map(({ metadata }) => logOf(metadata.name)));
    expect(again.every((text) => text.length > 0)).toBe(true);
    const [shown] = worklist.take(kubernetes, 'Runs by hand', /^kubectl -n datahub-retention get job NAME/);
    expect(await follow(shown, { NAME: kept[0].metadata.name })).toMatch(/[01]\/1/);
    const [image] = worklist.take(operate, 'Upgrade this job', /^kubectl/);
    expect(await follow(image)).toContain('registry.example.com/datahub-retention:');
  });

  test('shows and saves the ledger, which has no label of Helm', async () => {
    const [list, save] = worklist.take(kubernetes, 'The ledger', /^kubectl -n datahub-retention get/) as [
      Command,
      Command,
    ];
    expect(await follow(list)).toMatch(/^datahub-retention-dataset-operationaspect-v1-[0-9a-f]{12} /m);
    await follow(save);
    const ofHelm = 'kubectl -n datahub-retention get configmaps -l app.kubernetes.io/managed-by=Helm -o name';
    expect((await cluster.type(ofHelm)).trim().split('\n')).toEqual([
      'configmap/datahub-retention-ledger-of-retention',
      'configmap/retention-datahub-retention-policies',
    ]);
  });

  test('a second release in the namespace meets the same records', async () => {
    await cluster.type(
      'helm install another kubernetes --namespace datahub-retention --values values.yaml',
      'engineer',
    );
    const status =
      'kubectl -n datahub-retention create job s --from=cronjob/another-datahub-retention-manual --dry-run=client -o yaml | kubectl set env --local -f - DATAHUB_RETENTION_ARGS=status -o yaml | kubectl -n datahub-retention create -f -';
    await cluster.type(status, 'onCall');
    expect(await logOf('s')).toContain('dataset.operation');
    await cluster.type('helm uninstall another --namespace datahub-retention', 'engineer');
  });

  test('gives a second DataHub a namespace, and with it a ledger of its own, into which records can be moved', async () => {
    const [create, secret, install] = worklist.take(kubernetes, 'Two DataHubs', /./) as [Command, Command, Command];
    await cluster.giveNamespace(create.text);
    cluster.write('test-token.txt', cluster.gms.token);
    await follow(secret, {}, 'engineer');
    // Its values name the Secret of the chat, too.
    const [ofChat] = worklist.take(kubernetes, 'Messages', /create secret/);
    await cluster.type(ofChat.text.replace('-n datahub-retention ', '-n datahub-retention-test '), 'engineer');
    cluster.write('test.yaml', stringify({ ...values, server: { ...values.server, name: 'test' } }));
    await follow(install, {}, 'engineer');
    const status = async (job: string) => {
      await cluster.type(
        `kubectl -n datahub-retention-test create job ${job} --from=cronjob/retention-datahub-retention-manual --dry-run=client -o yaml | kubectl set env --local -f - DATAHUB_RETENTION_ARGS=status -o yaml | kubectl -n datahub-retention-test create -f -`,
      );
      return cluster.repeat(`kubectl -n datahub-retention-test logs -f job/${job}`);
    };
    expect(await status('before')).toContain('It has no record');
    const [restore] = worklist.take(kubernetes, 'The ledger', /^kubectl -n NAMESPACE create/);
    await follow(restore, { NAMESPACE: 'datahub-retention-test' }, 'engineer');
    expect(await status('after')).toContain('dataset.operation');
    await cluster.type('kubectl delete namespace datahub-retention-test', 'admin');
  });

  test('names the addresses of the API server, and is installed with a network policy', async () => {
    await follow(worklist.take(kubernetes, 'Network policy', /endpointslices/)[0], {}, 'engineer');
    await upgrade({ networkPolicy: { enabled: true, apiServer: { addresses: ['10.0.0.1/32'], ports: [443] } } });
    expect((await byHand('by_hand status')).succeeded).toBe(true);
    await upgrade({ networkPolicy: { enabled: false } });
  });

  test('refuses values that would move its ledger until the mark is deleted, and can be rolled back', async () => {
    const [forget] = worklist.take(kubernetes, 'The ledger', /delete configmap datahub-retention-ledger-of/);
    const elsewhere = { ledger: { existingClaim: 'elsewhere' } };
    await expect(upgrade(elsewhere)).rejects.toThrow(
      `the records of this release are in ConfigMaps, and with these values a run would look in the claim elsewhere and find none`,
    );
    const options = '--namespace datahub-retention --values values.yaml --kube-version 1.34.0';
    const { stderr } = await cluster.tryOut(
      `helm template retention kubernetes ${options} | kubectl -n datahub-retention apply --dry-run=server -f -`,
    );
    expect(stderr).toContain('field is immutable');
    await follow(forget, {}, 'engineer');
    await upgrade(elsewhere);
    await expect(upgrade({ ledger: {} })).rejects.toThrow('the records of this release are in the claim elsewhere');
    await follow(forget, {}, 'engineer');
    const [back] = worklist.take(operate, 'Go back', /^helm rollback/, 'Kubernetes');
    await follow(back, { REVISION: '0' }, 'engineer');
    expect((await byHand('by_hand status')).log).toContain('dataset.operation');
    await upgrade({});
    await follow(back, { REVISION: '0' }, 'engineer');
  });

  test('a release that is installed again in its namespace knows what was', async () => {
    await follow(worklist.take(operate, 'Remove', /^helm uninstall/)[0], {}, 'engineer');
    await follow(worklist.take(kubernetes, 'Deploy', /^helm upgrade/)[0], {}, 'engineer');
    expect((await byHand('by_hand status')).log).toContain('dataset.operation');
  });

  test('lists the last runs, and who asked for them', async () => {
    const [listed] = worklist.take('docs/audit.md', 'The last thirty runs', /^by_hand/, 'Kubernetes');
    expect((await byHand(listed.text)).log).toContain('dataset.operation');
    const [printed] = worklist.take('docs/audit.md', 'The last thirty runs', /^kubectl/);
    expect(JSON.parse(await cluster.type(printed.text, 'engineer')).runs).toContainEqual(
      expect.objectContaining({ by: 'schedule' }),
    );
  });

  test('begins a new ledger with a line that says so', async () => {
    await follow(worklist.take(kubernetes, 'The ledger', /delete configmaps/)[0], {}, 'engineer');
    expect((await byHand('by_hand enforce dataset.operation --yes')).log).toContain('holds no record, so this counts');
  });

  test('leaves nothing behind', async () => {
    for (const command of worklist.take(operate, 'Remove', /^(?:helm|kubectl delete)/))
      await follow(command, {}, 'admin');
    const [left] = worklist.take(operate, 'Remove', /^kubectl get/);
    await until('the end of its namespace', async () => {
      const { stdout, stderr } = await cluster.tryOut(left.text, 'engineer');
      return stdout === '' && stderr.includes('not found');
    });
  });

  test('no command of a page, of what helm prints or of a message is left', () => {
    const isTyped = (left: string) => cluster.typed.some((command) => left.endsWith(` ${command}`));
    expect([worklist.left(), notes.left().filter((each) => !isTyped(each))]).toEqual([[], []]);
    const offered = [...Object.values(logs), ...posted].flatMap((log) => offeredBy(log, /./));
    expect(offered.filter((command) => !cluster.typed.some((each) => each.endsWith(command)))).toEqual([]);
  });
});
