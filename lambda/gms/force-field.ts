import { concernsServer, type ServerError } from '../model/server-error.ts';
import { asResult, type DryRun, OperationsError, type TruncateFields } from './operations.ts';

/**
 * Whether the server refuses `forceDeleteByQuery`, the one field that the specification does not name (rule 1). If a dry
 * run with it fails, one without it, and then the same one again, show that. Throws OperationsError if it stays unknown.
 * @param dryRun throws OperationsError
 * @param fields with the field
 */
export async function probeForceField(
  dryRun: (fields: TruncateFields) => Promise<DryRun>,
  fields: TruncateFields,
): Promise<{ isRefused: boolean; dryRun: DryRun }> {
  const withField = await asResult(() => dryRun(fields));
  if (withField.kind === 'done') return { isRefused: false, dryRun: withField.value };
  const error = new OperationsError(withField.error);
  if (!mayRefuseField(withField.error)) throw error;
  // Only that field is left out: if the server refuses another one, this fails, too.
  const rest = { ...fields, forceDeleteByQuery: undefined };
  const without = await asResult(() => dryRun(rest));
  if (without.kind === 'failed') throw error;
  const again = await asResult(() => dryRun(fields));
  if (again.kind === 'done') return { isRefused: false, dryRun: again.value };
  // Another failure shows nothing: the next index finds out.
  if (!mayRefuseField(again.error)) throw new OperationsError(again.error);
  return { isRefused: true, dryRun: await dryRun(rest) };
}

/** Any 4xx except those with another meaning, whatever its body; or an answer without a count. */
export function mayRefuseField(error: ServerError): boolean {
  const { kind, status = 0 } = error;
  if (kind === 'unreadable') return true;
  if (concernsServer(error)) return false;
  return status >= 400 && status < 500 && ![401, 403, 404, 429].includes(status);
}
