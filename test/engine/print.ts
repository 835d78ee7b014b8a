import { table } from '../../cli/screen/table.ts';
import type { CaseResult } from './cases/run-case.ts';

/** The tables of a test run. */

export function caseTable(results: readonly CaseResult[]): string {
  return table(
    [
      { title: 'case' },
      { title: 'profile' },
      { title: 'the job said' },
      { title: 'old rows left', align: 'right' },
      { title: 'missing', align: 'right' },
      { title: 'ingested missing', align: 'right' },
      { title: 'unnamed', align: 'right' },
      { title: 'false words', align: 'right' },
      { title: 'recovery' },
      { title: 's', align: 'right' },
      { title: '' },
    ],
    results.map((result) => [
      result.case.name,
      result.case.profile ?? '',
      result.outcome,
      String(result.oldLeft),
      String(result.missing.kept),
      String(result.missing.ingested),
      String(result.unnamed),
      String(result.falseWords.length),
      recoveryCell(result),
      result.seconds.toFixed(0),
      result.problems.length === 0 ? 'ok' : 'FAILED',
    ]),
  );
}

function recoveryCell({ recovered, case: { expected } }: CaseResult): string {
  if (recovered === undefined) return expected.recovery ? 'not tried' : '';
  const { requests, missing, problems } = recovered;
  const back = missing.kept + missing.ingested === 0 && problems.length === 0 ? 'all back' : 'failed';
  return `${requests} requests, ${back}`;
}
