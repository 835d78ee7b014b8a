import { whatFailed } from '../../inputs/read-text.ts';
import { writeTo } from './screen.ts';

/** A terminal that was closed, or a reader that has gone. */
const isGone = ({ code }: NodeJS.ErrnoException): boolean => code === 'EPIPE' || code === 'EIO' || code === 'EBADF';

/**
 * Output that cannot be written must not end the supervision of tasks on the server: someone quits a pager early, a
 * terminal is closed, a log's disk is full. Only the last of these is reported, once, if possible.
 */
export function keepWriting(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): void {
  let told = false;
  stderr.on('error', () => {});
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isGone(error) || told) return;
    told = true;
    const { problem, remedy = 'check where it goes' } = whatFailed(error);
    writeTo(stderr, `The output cannot be written (${problem}): ${remedy}. The run goes on.\n`);
  });
}
