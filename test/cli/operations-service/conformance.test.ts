import { expect, test } from 'vitest';
import { simulatedStage } from '../../engine/conformance/simulated-stage.ts';
import { statements } from '../../engine/conformance/statements.ts';

/** The simulated engine does what a real one was seen to do; `npm run test:engine` tries the same on a real one. */
test.each(statements)('$on.profile: $name', async ({ on, says, observe }) => {
  const stage = simulatedStage(on);
  expect(await observe(stage)).toBe(says);
});
