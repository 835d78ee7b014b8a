import { findForceField } from '../../lambda/gms/force-field.ts';
import type { DryRun, Operations, TruncateFields } from '../../lambda/gms/operations.ts';

/** A dry run. Throws OperationsError. */
export type AskDryRun = (fields: Omit<TruncateFields, 'forceDeleteByQuery'>) => Promise<DryRun>;

/**
 * The dry runs of one survey: with the field forceDeleteByQuery until it is known that the server refuses it, as in a
 * run (rule 1).
 */
export function dryRunsOf(operations: Operations): { dryRun: AskDryRun; refusesForceField(): boolean } {
  const ask = (fields: TruncateFields) => operations.dryRun(fields);
  let isRefused: boolean | undefined;
  return {
    async dryRun(fields) {
      if (isRefused !== undefined) return ask({ ...fields, forceDeleteByQuery: isRefused ? undefined : true });
      const found = await findForceField(ask, { ...fields, forceDeleteByQuery: true });
      isRefused = found.isRefused;
      return found.answer;
    },
    refusesForceField: () => isRefused ?? false,
  };
}
