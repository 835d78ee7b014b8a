import { probeForceField } from '../../lambda/gms/force-field.ts';
import type { Operations } from '../../lambda/gms/operations.ts';
import type { DryRunner } from '../../lambda/truncation/counts.ts';

/**
 * The dry runs of one survey: with the field forceDeleteByQuery until it is known that the server refuses it, as in a
 * run (rule 1).
 */
export function dryRunsOf(operations: Operations): { dryRun: DryRunner; refusesForceField(): boolean } {
  const ask: DryRunner = (fields) => operations.dryRun(fields);
  let isRefused: boolean | undefined;
  return {
    async dryRun(fields) {
      if (isRefused !== undefined) return ask({ ...fields, forceDeleteByQuery: isRefused ? undefined : true });
      const found = await probeForceField(ask, { ...fields, forceDeleteByQuery: true });
      isRefused = found.isRefused;
      return found.dryRun;
    },
    refusesForceField: () => isRefused ?? false,
  };
}
