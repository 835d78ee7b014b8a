import { specified } from '../../../operations-service/simulation/behaviour.ts';
import type { LedgerRecord } from '../../../../lambda/ledger/record.ts';
import { anIndexOf, type deploy } from '../../../support/deployment.ts';
import { address, policyFor, production } from '../../../support/nights/night.ts';
import { anIndex } from '../../../support/records.ts';
import type { Command } from './script.ts';
import { type World, worldOf } from './world.ts';

/** The commands of a transcript, as README.md lists them. */

const name = 'dataset.operation';
const day = 86_400_000;

/** @param started deploys, and closes what it has deployed when the test ends */
export function player(started: typeof deploy): (command: Command) => Promise<string[]> {
  let world: World | undefined;
  let runs = 0;
  const here = (): World => {
    if (!world) throw new Error('a transcript begins with "deploy"');
    return world;
  };
  const play = async (command: Command): Promise<string[]> => {
    if (command.name === 'deploy') {
      world = await deployed(command, started);
      return [];
    }
    if (command.name === 'night') return here().night(nightOf(command, ++runs, play));
    if (command.name === 'after') {
      after(command, here());
      return [];
    }
    return act(command, here());
  };
  return play;
}

/** `deploy old=600 fresh=400 [second=900/300] [strategy=reindex] [batch=10] [hours=1] [speed=20] [faults=a,b]` */
async function deployed({ options }: Command, started: typeof deploy): Promise<World> {
  const { old = '600', fresh = '400', second, strategy, batch, hours, speed, faults } = options;
  const policy = { ...(strategy && { strategy }), ...(batch && { batchSize: Number(batch) }) };
  const [secondOld = 0, secondFresh = 0] = (second ?? '').split('/').map(Number);
  const policies = [policyFor('operation', policy), ...(second ? [policyFor('datasetProfile')] : [])];
  const deployment = await started(
    production({
      indices: [
        anIndexOf(Number(old), Number(fresh)),
        ...(second ? [anIndexOf(secondOld, secondFresh, 'datasetProfile')] : []),
      ],
      policies,
      faults: faults?.split(',').map((fault) => fault.replace(':', '=')) ?? [],
      ...(speed && { rowsPerSecond: Number(speed) }),
      settings: { maxRunHours: Number(hours ?? 12) },
    }),
  );
  return worldOf(deployment, policies);
}

/** `night [name=x] [preview] [clear] [accept=N] [function-dies-at=sending] [run-dies-at=sending] [during-truncate=COMMAND]` */
function nightOf({ words, options }: Command, run: number, play: (command: Command) => Promise<string[]>) {
  const { accept } = options;
  const [at, what] = options['run-dies-at']
    ? ([options['run-dies-at'], 'run'] as const)
    : ([options['function-dies-at'], 'function'] as const);
  const duringTruncate = options['during-truncate'];
  return {
    name: options['name'] ?? `run-${run}`,
    input: {
      ...(words.includes('preview') && { mode: 'preview' }),
      ...(words.includes('clear') && { clear: [name] }),
      ...(accept && { acceptMissing: Number(accept) }),
    },
    ...(at && { dies: { at: at as LedgerRecord['state'], what } }),
    // Commas stand for spaces, and colons for =: `during-truncate=policy,days:365`.
    ...(duringTruncate && { duringTruncate: () => play({ ...nested(duringTruncate) }) }),
  };
}

function nested(text: string): Command {
  const [command = '', ...parts] = text.split(',');
  const options = parts.map((part) => part.split(':') as [string, string]);
  return { name: command, words: [], options: Object.fromEntries(options) };
}

/** `after SECONDS COMMAND`: executed when this much of the next night has passed. */
function after({ words: [seconds = '', command = '', ...words], options }: Command, world: World): void {
  const { clock, service } = world.deployment;
  service.engine.schedule(clock.time + Number(seconds) * 1000, () => act({ name: command, words, options }, world));
}

/** Which rows are lost: `lose keep-every=3`, `lose fresh=11`, `lose old`, `lose all`. */
function chosen(word: string, { 'keep-every': every, fresh }: Command['options'], cutoff: number) {
  let left = Number(fresh);
  return ({ id, timestamp }: { id: number; timestamp: number }): boolean => {
    if (every) return id % Number(every) !== 0;
    if (fresh) return timestamp > cutoff && left-- > 0;
    return word === 'all' || timestamp <= cutoff;
  };
}

function act({ name: command, words, options }: Command, { deployment, policies }: World): string[] {
  const [word = ''] = words;
  const { clock, service, ledger } = deployment;
  const { engine } = service;
  switch (command) {
    case 'hours':
      clock.time += Number(word) * 3_600_000;
      return [];
    case 'hours-per-run':
      deployment.settings.maxRunHours = Number(word);
      return [];
    case 'paused':
      deployment.services.parameters.paused = async () => word === 'on';
      return [];
    case 'fault':
      engine.fault(word.replace(':', '='));
      return [];
    case 'mend':
      engine.set(specified);
      return [];
    // Something between us and the server answers in its place; the server acts at once, later, or never.
    case 'proxy': {
      const { answers = '504', acts = 'never' } = options;
      const answer = { kind: 'status', status: Number(answers), body: 'RBAC: access denied' } as const;
      engine.onRequest = ({ body }) => {
        if (!body.includes('"dryRun":false')) return undefined;
        if (acts === 'never') return { kind: 'fail-before', answer };
        return { kind: 'act-then', answer, actsAfterMillis: acts === 'at-once' ? 0 : Number(acts) * 1000 };
      };
      return [];
    }
    case 'no-proxy':
      engine.onRequest = undefined;
      return [];
    case 'lose':
      engine.removeRows(name, chosen(word, options, clock.time - 30 * day));
      return [];
    case 'come': {
      const { old = '0', fresh = '0', new: now = '0' } = options;
      engine.addRows(name, [
        ...Array(Number(old)).fill(clock.time - 40 * day),
        ...Array(Number(fresh)).fill(clock.time - 3_600_000),
        ...Array(Number(now)).fill(clock.time),
      ]);
      return [];
    }
    case 'reindexed-by-others':
      engine.truncateByOthers(name, { endTimeMillis: 0, forceReindex: true, batchSize: 10, timeoutSeconds: 300 });
      return [];
    case 'datahub-gc':
      engine.runGc(30);
      return [];
    case 'delete-index':
      engine.deleteIndex(engine.indices().find(({ index }) => index === name)!.name);
      return [];
    case 'restore': {
      const [back] = engine.indices().filter(({ index }) => index === undefined);
      engine.pointAlias(name, back!.name);
      return [];
    }
    case 'restart-node':
      engine.restartNode();
      return [];
    case 'refreshing':
      engine.refreshing(name, word === 'on');
      return [];
    case 'policies':
      deployment.policies = words.map((aspect) => policies.find((policy) => policy.aspect === aspect));
      return [];
    case 'policy':
      deployment.policies = options['days'] ? [policyFor('operation', { retentionDays: Number(options['days']) })] : [];
      return [];
    case 'version':
      ledger.stored.set(anIndex, { ...(ledger.stored.get(anIndex) as object), version: Number(word) });
      return [];
    case 'address':
      deployment.settings.gmsUrl = word === 'back' ? address : word;
      return [];
    case 'rows': {
      const rows = engine.rows(name);
      const old = rows.filter(({ timestamp }) => timestamp <= clock.time - 30 * day).length;
      return [`${name}: ${rows.length} rows, ${old} older than 30 days`];
    }
    case 'truncates':
      return [`${deployment.realTruncates().length} real truncates so far`];
    default:
      throw new Error(`no command is called ${command}`);
  }
}
