/** Where people read the output: a terminal, or a log file. */

export interface Screen {
  /** Whole lines. */
  write(text: string): void;
  /** Present if a line may be rewritten; otherwise only text, line breaks and perhaps colours are written. */
  terminal?: NodeJS.WriteStream | undefined;
  /** Whether severity may be shown in colour. */
  colour?: boolean;
}

/** A screen on a stream. `TERM=dumb` and CI logs get plain lines. */
export function screenOn(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Screen {
  const isTerminal = stream.isTTY === true && env['TERM'] !== 'dumb' && !env['CI'];
  return {
    write: (text) => writeTo(stream, text),
    terminal: isTerminal ? stream : undefined,
    colour: hasColour(isTerminal, env),
  };
}

/** As Node itself does: `FORCE_COLOR` before `NO_COLOR` (no-color.org), which counts if it is not empty. */
function hasColour(isTerminal: boolean, env: NodeJS.ProcessEnv): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isTerminal && !env['NO_COLOR'];
}

/** If a stream cannot be written, its output is lost, but tasks on the server are still supervised. */
export function writeTo(stream: NodeJS.WriteStream, text: string): void {
  try {
    stream.write(text);
  } catch (error) {
    // Node writes to files synchronously, and throws.
    stream.emit('error', error);
  }
}
