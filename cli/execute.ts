import type { CommandLine, Print } from './command-line/read.ts';
import { runbook } from './print-runbook.ts';
import { demo } from './verbs/demo.ts';
import type { ProcessContext } from './verbs/process-context.ts';
import { runOnServer } from './verbs/run.ts';
import { status } from './verbs/status.ts';
import { survey } from './verbs/survey.ts';
import { validate } from './verbs/validate.ts';

/**
 * Carries out the command line; everything that it names is read and checked before the first request.
 * @returns the exit status
 * @throws UsageError
 */
export async function execute(commandLine: CommandLine | Print, context: ProcessContext): Promise<number> {
  const { program, print } = context;
  switch (commandLine.verb) {
    case 'print':
      print(commandLine.text);
      return 0;
    case 'validate':
      return validate(commandLine, context);
    case 'runbook':
      print(`${runbook(commandLine.words[0], program)}\n`);
      return 0;
    case 'status':
      return status(commandLine, context);
    default: {
      const output = context.output(commandLine);
      try {
        const act = { survey, demo, preview: runOnServer, enforce: runOnServer, release: runOnServer }[
          commandLine.verb
        ];
        return await act(commandLine, output, context);
      } finally {
        output.close();
      }
    }
  }
}
