import { startOperationsService } from '../operations-service/server.ts';

/**
 * The embedded service as its own process, with tasks that take seconds: it shows from outside what a stopped command line
 * leaves behind and still sends. Prints its address and token, and ends when its standard input does.
 */

const aspects = process.argv.slice(2);
const indices = aspects.flatMap((aspect) => [
  { entityType: 'dataset', aspect, rows: 2500, days: 100 },
  // The larger one comes second.
  { entityType: 'chart', aspect, rows: 2600, days: 100 },
]);
const service = await startOperationsService({ indices, faults: ['rows-per-second=1500'] });
process.stdout.write(`${JSON.stringify({ url: service.url, token: service.token })}\n`);
process.stdin.on('end', () => process.exit(0)).resume();
