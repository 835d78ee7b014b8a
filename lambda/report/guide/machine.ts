import type { HandInput } from '../../model/run-input.ts';
import type { Guide, MachineAudience } from './audience.ts';
import { anchorOf } from './runbook.ts';
import { shellWord, verbWords } from './words.ts';

export const machineGuide = ({ program, options = '', policies = 'FILE', timer, demo }: MachineAudience): Guide => ({
  runByHand: (input) =>
    demo
      ? demoOf(input, program)
      : [program, ...verbWords(input, policies), options].filter((word) => word !== '').join(' '),
  storeToken: () => undefined,
  setPaused: (paused) => timer && `sudo systemctl ${paused ? 'disable' : 'enable'} --now ${shellWord(timer)}`,
  runbook: (section) => ({ where: '', command: `${program} runbook ${shellWord(anchorOf(section))}` }),
  policies: 'in the policies file',
  otherLedger: 'another folder holds the records: name it with --ledger',
  enforce: 'use the verb enforce',
});

const demoOf = ({ indices = [], approveRows }: HandInput, program: string): string | undefined =>
  approveRows === undefined
    ? undefined
    : [program, 'demo', ...indices.map(shellWord), '--approve-rows', approveRows].join(' ');
