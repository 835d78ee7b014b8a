import { clearing } from './clearing.ts';
import { foreign, heldBack } from './held-back.ts';
import { missing, unseen } from './missing.ts';
import type { Nights } from './night.ts';
import { ordinary } from './ordinary.ts';
import { previews } from './previews.ts';
import { gateways, refusals, runErrors } from './refused.ts';
import { remembered } from './remembered.ts';
import { ends, unresolved } from './unresolved.ts';

/** Every named night, by the folder of its golden messages. */
export const groups: Readonly<Record<string, Nights>> = {
  ordinary,
  previews,
  'held-back': heldBack,
  foreign,
  'run-errors': runErrors,
  refusals,
  gateways,
  missing,
  unseen,
  unresolved,
  ends,
  clearing,
  remembered,
};

export const nights: Nights = Object.assign({}, ...Object.values(groups));
