import { played, situations } from './situations.ts';

/** Plays each named situation and prints what is wrong. @returns whether each was told as it should be */
export async function runNamed(): Promise<boolean> {
  console.log('\nNamed situations:');
  let isGood = true;
  for (const situation of situations) {
    const wrong = await played(situation);
    console.log(`  ${situation.name}: ${wrong ?? 'told'}`);
    isGood &&= wrong === undefined;
  }
  return isGood;
}
