import type { ComparedField } from '../../../lambda/model/policy-fields.ts';
import { type PolicyOf, prefix, replaced, written } from '../histories/policies.ts';
import type { WrittenPolicy } from '../truth/policies.ts';
import type { Chances } from '../world/chances.ts';
import type { Happening, Scene } from './happening.ts';

/** What the operator does, at any moment of a run. */

/** Rewrites or removes one policy's parameter. */
const rewritten =
  (text: (policy: PolicyOf, chances: Chances) => object | string | undefined) =>
  ({ world, policies }: Scene, chances: Chances): void => {
    const policy = chances.pick(policies);
    const next = text(policy, chances);
    const source = typeof next === 'string' ? { name: policy.parameter, text: next } : next && written(policy, next);
    world.policies = replaced(world.policies, policy.parameter, source);
  };

const byHand = ({ begin, night }: Scene, chances: Chances, what: string, input: Record<string, unknown>): void => {
  begin(`${what}-${night}-${chances.between(1, 99_999)}`, input);
};

/** What has happenings of its own below, or names the index. */
type OtherField = 'entityType' | 'aspect' | 'enabled' | 'retentionDays' | 'refuseReindex';

/** What each other field is changed to: the compiler asks for a new one, here and in the truth. */
const limits: { [Field in Exclude<ComparedField, OtherField>]: readonly WrittenPolicy[Field][] } = {
  minDeletePercent: [50],
  maxDeletePercent: [30],
  batchSize: [25],
  timeoutSeconds: [90],
  maxRowsPerRun: [20],
  maxMissingPercent: [0, 1],
};

export const operator = {
  pauses: ({ world }) => void Object.assign(world, { paused: true }),
  resumes: ({ world }) => void Object.assign(world, { paused: false }),
  'retention changes': rewritten((_, chances) => ({ retentionDays: chances.pick([20, 45, 60, 365]) })),
  'reindexes refused': rewritten((_, chances) => ({ refuseReindex: chances.happens(0.5) })),
  'limits change': rewritten((_, chances) =>
    chances.pick(
      Object.entries(limits).flatMap(([field, values]) => (values as unknown[]).map((value) => ({ [field]: value }))),
    ),
  ),
  'policy off': rewritten(() => ({ enabled: false })),
  'policy gone': rewritten(() => undefined),
  'policy broken': rewritten(() => '{"entityType": "dataset", '),
  // A field that means nothing to the job.
  'owner changes': rewritten((_, chances) => ({ owner: `team-${chances.between(1, 9)}`, note: 'see the wiki' })),
  // A second policy for the same index, in other case.
  'policy twice': ({ world, policies }, chances) => {
    const policy = chances.pick(policies);
    const name = `${prefix}${policy.name}-2`;
    const { text } = written(policy, { entityType: policy.entityType.toUpperCase() });
    world.policies = [...world.policies, { name, text }];
  },
  'mode changes': ({ world }) => {
    world.settings = { ...world.settings, mode: world.settings.mode === 'enforce' ? 'preview' : 'enforce' };
  },
  // A deployment uses another address of the same server.
  'address changed': ({ world }) => {
    world.settings = { ...world.settings, gmsUrl: 'https://datahub.test/api/gms' };
  },
  'floor raised': ({ world }, chances) => {
    world.settings = { ...world.settings, minRetentionDays: chances.pick([1, 25, 30, 40]) };
  },
  'stage limits rows': ({ world }, chances) => {
    world.settings = { ...world.settings, maxRowsPerRun: chances.pick([25, 120]) };
  },
  'run by hand': (stage, chances) =>
    byHand(stage, chances, 'by-hand', { mode: chances.pick(['enforce', 'enforce', 'preview']) }),
  // Another execution for one policy, which may pass its ceiling.
  'one index': (stage, chances) => {
    const indices = [chances.pick(stage.policies).name];
    const approved = chances.happens(0.5) ? { approveRows: chances.pick([50, 1000]) } : {};
    // Without a mode it is a preview.
    const mode = chances.happens(0.8) ? { mode: 'enforce' } : {};
    byHand(stage, chances, 'indices', { ...mode, indices, ...approved });
  },
  // A person releases an index, whatever its state, perhaps accepting that rows are missing.
  'released at any time': (stage, chances) => {
    const release = [chances.pick(stage.policies).name];
    const accepts = chances.happens(0.3) ? { acceptMissing: chances.pick([0, 1, 20, 1000]) } : {};
    byHand(stage, chances, 'release', { release, ...accepts });
  },
} as const satisfies Record<string, Happening>;
