import { parseArgs } from 'node:util';
import { greet } from './greeting.ts';
import { startOperationsService } from './service.ts';

/** `npm run operations-service -- [--port N]`: the whole specification, with sample rows, until Ctrl-C. */
try {
  const { port = '0' } = parseArgs({ options: { port: { type: 'string' } } }).values;
  greet(await startOperationsService({ port: Number(port), profile: { hasSizes: true } }), 'Operations service');
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}
