import { startOperationsService } from '../operations-service/server.ts';

/**
 * The embedded service as a process of its own, whose tasks take seconds: what a command line that is stopped leaves behind, and
 * what it still sends, is seen from outside. Prints where it is, and ends with its standard input.
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
