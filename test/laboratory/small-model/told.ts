import type { Told } from './functions.ts';

/** One answer of each kind that the core tells apart: for the models with two faults. */
export const fewAnswers = ['own', '403', '504', 'reset'] as const satisfies readonly Told[];

/** Every answer there is. */
export const everyAnswer = [
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
