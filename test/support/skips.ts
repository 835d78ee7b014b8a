import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';

/** Checks that need more than Node: they say in one line that they were skipped, and why. */

/** One line on standard error, and in the list that `.ci/run` prints at its end. */
export function skipped(line: string): undefined {
  console.error(line);
  const list = process.env['SKIPPED_CHECKS'];
  if (list) appendFileSync(list, `${line}\n`);
  return undefined;
}

/** @throws Error naming the programs that are not there: what fails without them says something else */
export function need(...programs: string[]): void {
  const missing = programs.filter((program) => {
    try {
      execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
      return false;
    } catch {
      return true;
    }
  });
  if (missing.length > 0) throw new Error(`not found: ${missing.join(', ')}`);
}

/** What a program says of its failure, on one line: npm's own last lines only name a log. */
export function reasonOf(error: unknown): string {
  const { stderr = '', message } = error as Error & { stderr?: string | Buffer };
  const lines = String(stderr)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^npm (?:error|ERR!) (?:A complete log|code |errno |path |command )/.test(line));
  const named = lines.find((line) => /not found|no such|cannot|could not|unable|refused|error:/i.test(line));
  return (named ?? lines.at(-1) ?? message).slice(0, 300);
}
