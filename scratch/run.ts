import { createOperations } from '../lambda/operations/http/http-operations.ts';
import { createHttpTransport } from '../lambda/operations/http/http-transport.ts';
import { memoryLedger } from '../lambda/ledger/memory.ts';
import { plan } from '../lambda/run/plan/plan.ts';
import { truncate } from '../lambda/run/truncate.ts';
import { poll } from '../lambda/run/poll.ts';
import { composeReport } from '../lambda/run/report.ts';
import { type Literal, literal } from './literal.ts';
const day = 86_400_000;
export async function nightRun(o: Literal, ages: (t: number) => number[], policy: object = {}, settings: object = {}) {
  let now = Date.now(); const begun = now;
  const clock = { now: () => now, monotonic: () => now };
  const lit = literal(o, ages(now), () => now);
  await new Promise<void>((r) => lit.server.listen(0, '127.0.0.1', r));
  const port = (lit.server.address() as { port: number }).port;
  const transport = createHttpTransport();
  const baseUrl = `http://127.0.0.1:${port}${o.prefix ?? ''}`;
  const token = { get: async () => 'secret-token-of-the-test', reread: async () => 'secret-token-of-the-test' };
  const operations = createOperations({ baseUrl, token, transport, sleep: async () => {} });
  const ledger = memoryLedger();
  const log = { info() {}, warn() {}, error() {} };
  const services = { settings: { stage: 't', gmsUrl: baseUrl, mode: 'enforce' as const, minRetentionDays: 7, maxRunHours: 12, ...settings },
    parameters: { policies: async () => [{ name: 'p', text: JSON.stringify({ entityType: 'dataset', aspect: 'operation', retentionDays: 30, ...policy }) }], paused: async () => false, token },
    operations, ledger, clock, log, deadline: () => now + 900_000 };
  const before = lit.rows();
  let state = await plan({ input: {}, execution: { name: 'run1', startTime: new Date(now).toISOString() } }, services);
  let turns = 0;
  while (state.next !== 'report' && turns++ < 3000) {
    if (state.next === 'truncate') state = await truncate(JSON.parse(JSON.stringify(state)), services);
    else { now += state.waitSeconds * 1000; state = await poll(JSON.parse(JSON.stringify(state)), services); }
  }
  const report = composeReport({ input: state, execution: { name: 'run1', startTime: new Date(begun).toISOString() } }, { settings: services.settings, clock, words: (f) => f as never });
  lit.server.close(); await transport.close();
  const [p] = report.policies as never as { outcome: string; cause: { kind: string } }[];
  return { outcome: p?.outcome, cause: p?.cause, error: report.cause, before, after: lit.rows(), requests: lit.asked.length, asked: lit.asked, entry: p, record: [...ledger.stored.values()][0], seconds: (now - begun) / 1000 };
}
const rows = (t: number) => [...Array.from({ length: 500 }, (_, i) => t - 40 * day - i * 1000), ...Array.from({ length: 500 }, (_, i) => t - 20 * day + i * 1000)];
const base: Literal = { idShape: 'value', statusShape: 'value-string', counters: 'deleted' };
if (process.argv[2] === 'table') {
  const table: [string, Literal, string][] = [];
  for (const idShape of ['value', 'json', 'text'] as const) for (const statusShape of ['object', 'string', 'value-string', 'value-object'] as const) for (const counters of ['deleted', 'created'] as const) table.push([`${idShape} ${statusShape} ${counters}`, { ...base, idShape, statusShape, counters }, 'truncated']);
  table.push(['refuses 400', { ...base, refuses: 400 }, 'truncated'], ['refuses 422', { ...base, refuses: 422, counters: 'created' }, 'truncated'], ['sizes', { ...base, sizes: true }, 'truncated'], ['/gms', { ...base, prefix: '/gms' }, 'truncated'],
    ['loses one row, says deleted', { ...base, loses: 1 }, 'truncated (tolerance)'], ['loses one row, says created', { ...base, counters: 'created', loses: 1 }, 'truncated (tolerance)'], ['loses 40', { ...base, counters: 'created', loses: 40 }, 'rows-missing'], ['copies half', { ...base, counters: 'created', half: true }, 'rows-missing'], ['no status', { ...base, noStatus: true }, 'unknown'], ['no status, loses one', { ...base, noStatus: true, loses: 1 }, 'rows-missing']);
  for (const [name, o, want] of table) { const r = await nightRun(o, rows); console.log(name.padEnd(34), want.padEnd(22), r.outcome, r.cause?.kind, `${r.before} -> ${r.after}`, r.requests, `${r.seconds}s`, r.error ? JSON.stringify(r.error) : ''); }
  const none = await nightRun(base, (t) => rows(t).slice(500)); console.log('nothing old', none.outcome, none.requests);
  const little = await nightRun(base, (t) => rows(t).slice(480)); console.log('little', little.outcome, little.requests);
  const seven = await nightRun(base, rows, { retentionDays: 7 }); console.log('exactly 7 days', seven.outcome, seven.cause);
} else console.log(JSON.stringify(await nightRun({ ...base, ...(JSON.parse(process.argv[2] ?? '{}')) }, rows), null, 1));
process.exit(0);
