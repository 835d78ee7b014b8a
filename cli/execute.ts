import type { CommandLine, Print } from './command-line/read.ts';
import { demo } from './commands/demo.ts';
import type { ProcessContext } from './commands/process-context.ts';
import { runOnServer } from './commands/run.ts';
import { status } from './commands/status.ts';
import { survey } from './commands/survey.ts';
import { validate } from './commands/validate.ts';
import { runbook } from './print-runbook.ts';

/**
 * Carries out the command line; everything that it names is read and checked before the first request.
 * @returns the exit status
 * @throws UsageError
 */
export async function execute(commandLine: CommandLine | Print, context: ProcessContext): Promise<number> {
  const { print } = context;
  switch (commandLine.verb) {
    case 'print':
      print(commandLine.text);
      return 0;
    case 'validate':
      return validate(commandLine, context);
    case 'runbook':
      print(`${runbook(commandLine, context)}\n`);
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
