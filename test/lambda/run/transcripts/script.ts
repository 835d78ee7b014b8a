/**
 * A transcript: commands and their results, in one file that people read. As in etcd's `testdata`:
 *
 *     # A comment.
 *     command argument name=value
 *     ----
 *     its result, line by line
 *
 * Blocks are separated by an empty line; commands that say nothing have no block of their own, and stand above the next
 * one. The same file is input and expectation: its outputs are regenerated and compared.
 */

export interface Command {
  /** Behind ` do `: a command that is executed in the middle of this one. */
  inner?: string;
  name: string;
  /** Words without `=`. */
  words: string[];
  options: Record<string, string>;
}

interface Block {
  comments: string[];
  /** As they are written, one per line. */
  commands: string[];
}

/** Runs every command of a transcript, in order. @returns the transcript with regenerated outputs */
export async function replay(text: string, run: (command: Command) => Promise<string[]>): Promise<string> {
  const blocks: string[] = [];
  for (const { comments, commands } of parse(text)) {
    const output: string[] = [];
    for (const line of commands) output.push(...(await run(commandOf(line))));
    blocks.push([...comments, ...commands, ...(output.length === 0 ? [] : ['----', ...output])].join('\n'));
  }
  return `${blocks.join('\n\n')}\n`;
}

/** The results of all runs of a transcript, as they are printed there. */
export const runsIn = (text: string): string[] =>
  text
    .split(/\n{2,}/)
    .filter((block) => /^run\b/m.test(block))
    .flatMap((block) => block.trimEnd().split('\n----\n')[1] ?? []);

function parse(text: string): Block[] {
  return text
    .trimEnd()
    .split(/\n{2,}/)
    .map((block) => {
      const [head = ''] = block.split(/^----$/m);
      const lines = head.split('\n').filter((line) => line !== '');
      return {
        comments: lines.filter((line) => line.startsWith('#')),
        commands: lines.filter((line) => !line.startsWith('#')),
      };
    });
}

export function commandOf(line: string): Command {
  const [outer = '', inner] = line.split(/ do (.*)/s);
  const [name = '', ...parts] = outer.trim().split(/\s+/);
  const options = parts
    .filter((part) => part.includes('='))
    .map((part) => {
      const at = part.indexOf('=');
      return [part.slice(0, at), part.slice(at + 1)] as const;
    });
  const words = parts.filter((part) => !part.includes('='));
  return { name, words, options: Object.fromEntries(options), ...(inner && { inner }) };
}
