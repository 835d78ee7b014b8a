import { biteRules } from './bites.ts';
import type { CheckRule } from './events.ts';
import { guardRules } from './guards.ts';
import { livenessRules } from './liveness.ts';
import { reportRules } from './reports.ts';
import { rowRules } from './rows.ts';
import { sendingRules } from './sending.ts';
import { unresolvedRules } from './unresolved.ts';

/** Every rule of the checker, by the name that violations print. */
export const rules: Readonly<Record<string, CheckRule>> = {
  ...sendingRules,
  ...guardRules,
  ...biteRules,
  ...unresolvedRules,
  ...rowRules,
  ...reportRules,
  ...livenessRules,
};
