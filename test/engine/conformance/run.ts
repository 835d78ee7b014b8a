import { wrap } from '../../../cli/screen/text.ts';
import { type RealEngine, realStage } from './real-stage.ts';
import { simulatedStage } from './simulated-stage.ts';
import type { Stage } from './stage.ts';
import type { Statement } from './statement.ts';

/** Each statement, tried on the simulated engine and on the real one. */

export interface Conformity {
  statement: Statement;
  simulated: string;
  /** undefined if it was not tried, because it would kill a node that is not ours. */
  real: string | undefined;
}

export async function compare(statement: Statement, engine: RealEngine, mayKill: boolean): Promise<Conformity> {
  const simulated = await observed(statement, async () => simulatedStage(statement.on));
  if (statement.kills && !mayKill) return { statement, simulated, real: undefined };
  return { statement, simulated, real: await observed(statement, () => realStage(engine, statement.on)) };
}

async function observed({ observe }: Statement, open: () => Promise<Stage>): Promise<string> {
  let stage: Stage | undefined;
  try {
    stage = await open();
    return await observe(stage);
  } catch (error) {
    return `(${(error as Error).message})`;
  } finally {
    await stage?.close();
  }
}

export const agrees = ({ statement: { says }, simulated, real }: Conformity): boolean =>
  simulated === says && (real === undefined || real === says);

/** Statement × simulated × real; where they agree, the result is printed once. */
export function conformityTable(found: readonly Conformity[]): string[] {
  return found.flatMap(({ statement, simulated, real }) => [
    ...wrap(`${statement.name} [${statement.on.profile}]`, 118),
    ...(simulated === real
      ? wrap(real, 118, '    both       ')
      : [
          ...wrap(simulated, 118, '    simulated  '),
          ...wrap(real ?? 'not tried: it kills the node', 118, '    real       '),
        ]),
    ...(simulated === statement.says ? [] : wrap(statement.says, 118, '    WRONG, not ')),
  ]);
}
