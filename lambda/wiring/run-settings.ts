import { readBaseUrl } from '../operations/http/base-url.ts';
import type { RunSettings } from '../run/services.ts';
import type { StageEnvironment } from './environment.ts';

/** The settings that every step has, from its function's environment. */
export function runSettings(environment: StageEnvironment & { MAX_ROWS_PER_RUN?: string | undefined }): RunSettings {
  const address = readBaseUrl(environment.GMS_URL);
  const { MAX_ROWS_PER_RUN: bite } = environment;
  return {
    stage: environment.STAGE,
    gmsUrl: address.kind === 'address' ? address.baseUrl : environment.GMS_URL,
    mode: environment.MODE,
    minRetentionDays: Number(environment.MIN_RETENTION_DAYS),
    maxRunHours: Number(environment.MAX_RUN_HOURS),
    ...(bite !== undefined && { maxRowsPerRun: Number(bite) }),
  };
}
