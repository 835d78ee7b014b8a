import type { Report } from '../../../lambda/facts/report-schema.ts';
import { anIndexOf, type Deployment, type deploy, firstNight } from '../deployment.ts';
import { anIndex } from '../records.ts';

/**
 * Nights that messages, transcripts and renderer tests know by name. Each runs the real steps, the workflow file and
 * the embedded service, in virtual time. None reads the English of a report: only kinds and numbers decide.
 */

export interface Night {
  /** Plays the night, with everything before it. @returns the report that the night is named after */
  play(begin: Begin): Promise<Report>;
}

export type Options = NonNullable<Parameters<typeof deploy>[0]>;
/** Deploys a production stage: `prod`, with its own address. */
export type Begin = (options?: Options) => Promise<Deployment>;

export const address = 'http://gms.internal.example.com:8080';

/** What every production stage shares, so that no port or machine shows up in a message. */
export const production = (options: Options = {}): Options => ({
  token: 'the-token-of-the-tests',
  ...options,
  settings: { stage: 'prod', gmsUrl: address, ...options.settings },
});

export const hour = 3_600_000;
export const day = 24 * hour;
export { anIndex, anIndexOf, firstNight };

export const policyFor = (aspect: string, more: object = {}, entityType = 'dataset') => ({
  entityType,
  aspect,
  retentionDays: 30,
  ...more,
});
export const asReindex = [policyFor('operation', { strategy: 'reindex' })];
/** One batch after another, so slowly that the run ends first. */
export const slowly = { rowsPerSecond: 0.05, policies: [policyFor('operation', { batchSize: 10 })] };

/** Two indices, truncated in this order. */
export const twoIndices = {
  indices: [anIndexOf(12_000, 18_000), anIndexOf(45_000, 20_000, 'datasetProfile')],
  policies: [policyFor('operation'), policyFor('datasetProfile')],
};

/** A token that contains its expiry. */
export const tokenFor = (days: number): string =>
  `e30.${Buffer.from(JSON.stringify({ exp: Math.floor((firstNight + days * day) / 1000) })).toString('base64url')}.x`;

/** A night's name in a list: `{ healthy: { play } }`. */
export type Nights = Readonly<Record<string, Night>>;
