import { UsageError } from '../telling/mistakes.ts';
import { type Inspected, inspectFile, inspectList, inspectStage } from './inspect.ts';

/**
 * `validate`: checks whether files can be used, without asking any server.
 * @returns for each file a line for each warning, and one that says that nothing is wrong
 * @throws UsageError with a line for each mistake and each warning in any of the files
 */
export function validate(files: { policiesPath?: string | undefined; stagePath?: string | undefined }): string[] {
  const { policiesPath, stagePath } = files;
  const inspected: Array<Inspected<unknown> & { path: string }> = [
    ...(policiesPath === undefined
      ? []
      : [{ path: policiesPath, ...inspectFile(policiesPath, '--policies', inspectList) }]),
    ...(stagePath === undefined ? [] : [{ path: stagePath, ...inspectFile(stagePath, '--stage', inspectStage) }]),
  ];
  const lines = inspected.flatMap(({ mistakes, warnings }) => [...mistakes, ...warnings]);
  if (inspected.some(({ mistakes }) => mistakes.length > 0)) throw new UsageError(lines.join('\n'));
  return inspected.flatMap(({ path, warnings }) => [...warnings, `${path}: no mistake found.`]);
}
