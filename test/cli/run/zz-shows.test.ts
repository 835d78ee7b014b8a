import { chmodSync, mkdirSync, rmSync, readFileSync, existsSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { spawnSync } from 'node:child_process';
import { programs } from '../../programs.ts';
import { operation, runHere, serviceHere } from '../here.ts';
import { startReceiver } from '../outputs/receiver.ts';
import { start } from '../processes.ts';

const log: string[] = [];
const text = (body: any): string => body.text ?? body.blocks?.map((b: any) => b.text?.text ?? b.elements?.map((e: any) => e.text).join(' ') ?? '').join('\n') ?? JSON.stringify(body);
async function stage(policy: object = {}) {
  const service = await serviceHere({ indices: [{ entityType: 'dataset', aspect: 'operation', rows: 400, days: 100 }], faults: ['ignores-force-flags'] });
  const hook = await startReceiver();
  onTestFinished(() => hook.close());
  const args = service.run('enforce', [{ ...operation, retentionDays: 30, ...policy }], '--notify-url-file', service.files.write('hook', hook.url));
  let seen = 0;
  const posts = (what: string) => {
    const now = hook.received.slice(seen); seen = hook.received.length;
    log.push(`  ${what}: ${now.length === 0 ? 'NOTHING POSTED' : now.map(({ body }) => text(body).split('\n').slice(0, 6).join('\n      ')).join('\n    + ')}; sent so far ${service.sent().length}`);
  };
  return { ...service, hook, args, posts, first: (at: string) => start(args, { AT_WRITE: at }, 'pipe', programs['ended-at-write']).ended };
}
for (const signal of ['SIGTERM', 'SIGKILL'])
  test(`killed by ${signal} between verdict and message`, async () => {
    log.push(`== ${signal} between verdict and message`);
    const { first, posts, args } = await stage();
    const { status, stderr } = await first(`after 3 ${signal}`);
    log.push(`  first night: status ${status}, stderr: ${stderr.trim()}`);
    posts('night 1');
    for (const n of [2, 3]) { await runHere(args); posts(`night ${n}`); }
  });
test('webhook 500', async () => {
  log.push('== webhook answers 500 for two nights');
  const { hook, posts, args } = await stage();
  for (let n = 0; n < 6; n++) hook.answers.push({ status: 500 });
  for (const n of [1, 2, 3, 4]) { const { status, stdout } = await runHere(args); log.push(`  night ${n}: status ${status}; ${stdout.split('\n').filter((l) => /posted|Until a message/.test(l)).join(' ')}`); posts(`night ${n}`); }
});
test('two at once', async () => {
  log.push('== two at once');
  const { posts, args } = await stage();
  const [a, b] = await Promise.all([runHere(args), runHere(args)]);
  log.push(`  statuses ${a.status} ${b.status}`);
  posts('night 1, both');
  await runHere(args); posts('night 2');
});
for (const [what, more, nowhere] of [['without webhook or file', 'none', true], ['with --json FILE', 'json', true], ['with webhook', 'hook', true]] as const)
  test(`cron >/dev/null ${what}`, async () => {
    log.push(`== ... enforce --yes ... >/dev/null ${what}`);
    const { args, posts, files } = await stage();
    const at = args.indexOf('--notify-url-file');
    const base = more === 'hook' ? args : args.toSpliced(at, 2);
    const all = more === 'json' ? [...base, '--json', files.at('r.json')] : base;
    const { status, stderr } = await runHere(all, { isOutputNowhere: nowhere });
    log.push(`  status ${status} ${stderr}`); posts('night 1');
  });
test('a webhook that refuses for a week, cron >/dev/null', async () => {
  log.push('== a webhook that refuses (403) for a week, output /dev/null');
  const { args, posts, hook } = await stage();
  for (let n = 1; n <= 7; n++) { hook.answers.push({ status: 403 }); const { status, stdout } = await runHere(args, { isOutputNowhere: true }); if (n < 3 || n > 6) { log.push(`  night ${n}: status ${status}`); posts(`night ${n}`); } }
  await runHere(args, { isOutputNowhere: true }); posts('night 8');
  await runHere(args, { isOutputNowhere: true }); posts('night 9');
});
for (const what of ['away (named, parent missing)', 'read-only', 'disappears in the middle', 'full from the start', 'full from the task on'])
  test(`ledger ${what}`, async () => {
    log.push(`== ledger ${what}`);
    const { args, posts, files, engine, first, sent } = await stage();
    let given = args;
    if (what.startsWith('away')) given = args.map((w, n) => (args[n - 1] === '--ledger' ? files.at('gone/ledger') : w));
    if (what === 'read-only') { given = args.map((w, n) => (args[n - 1] === '--ledger' ? '/proc/ledger' : w)); }
    if (what.startsWith('disappears')) engine.onRequest = () => void rmSync(files.at('ledger'), { recursive: true, force: true });
    if (what.startsWith('full')) {
      const { status, stdout, stderr } = await first(`from ${what.includes('task') ? 2 : 1} ENOSPC`);
      log.push(`  status ${status} ${stderr.trim()}`);
    } else {
      const { status, stderr } = await runHere(given);
      log.push(`  status ${status} ${stderr}`);
    }
    posts('night 1');
    void sent; void chmodSync; void mkdirSync; void readFileSync; void existsSync; void spawnSync; void expect;
  });
test('log', () => { console.log(log.join('\n')); });
