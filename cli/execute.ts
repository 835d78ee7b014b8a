import type { CommandLine, Print } from './command-line/read.ts';
import { validate } from './inputs/inspect.ts';
import { runbook } from './print-runbook.ts';
import { stageAddressWarnings } from './survey/stage-address.ts';
import { demo } from './verbs/demo.ts';
import { status } from './verbs/print-status.ts';
import { runOnServer } from './verbs/run.ts';
import type { Surroundings } from './verbs/surroundings.ts';
import { survey } from './verbs/survey.ts';

/**
 * Carries out the command line; everything that it names is read and checked before the first request.
 * @returns the exit status
 * @throws UsageError
 */
export async function execute(asked: CommandLine | Print, surroundings: Surroundings): Promise<number> {
  const { program, print } = surroundings;
  switch (asked.verb) {
    case 'print':
      print(asked.text);
      return 0;
    case 'validate':
      print(`${[...validate(asked), ...(await stageAddressWarnings(asked.stage))].join('\n')}\n`);
      return 0;
    case 'runbook':
      print(`${runbook(asked.words[0], program)}\n`);
      return 0;
    case 'status':
      return status(asked, surroundings);
    default: {
      const output = surroundings.output(asked);
      try {
        const act = { survey, demo, preview: runOnServer, enforce: runOnServer, release: runOnServer }[asked.verb];
        return await act(asked, output, surroundings);
      } finally {
        output.close();
      }
    }
  }
}
