import type { Told } from './functions.ts';

/** One answer of each kind that the core distinguishes. */
const fewAnswers = ['own', '403', '504', 'reset'] as const satisfies readonly Told[];

/** Every answer there is. */
const everyAnswer = [
  'own',
  'sentence',
  'empty',
  'garbage',
  'page 200',
  'redirect',
  '400',
  'page 400',
  '401',
  '403',
  '404',
  '429',
  '500',
  'page 502',
  '503',
  '504',
  'reset',
] as const satisfies readonly Told[];

/** What a client may get instead of the server's own answer, by how many kinds. */
export const answersTold = { own: ['own'], few: fewAnswers, every: everyAnswer } as const;
