import { createServer } from 'node:http';

// Written from operations-service.md alone: six fields, a dry run that says "Reindexing", a task id, counters.
export interface Literal {
  prefix?: string; idShape: 'value' | 'json' | 'text'; statusShape: 'object' | 'string' | 'value-string' | 'value-object';
  counters: 'deleted' | 'created'; refuses?: 400 | 422; loses?: number; half?: boolean; noStatus?: boolean; sizes?: boolean; strays?: number;
  taskMillis?: number;
}
export function literal(o: Literal, rows: number[], now: () => number) {
  let stored = [...rows]; let seq = 0; const asked: string[] = [];
  const tasks = new Map<string, { total: number; done: number; endsAt: number; apply(): void; applied: boolean }>();
  const tick = () => { for (const t of tasks.values()) if (!t.applied && now() >= t.endsAt) { t.applied = true; t.apply(); } };
  const server = createServer((req, res) => {
    let text = ''; req.on('data', (c) => (text += c)); req.on('end', () => {
      tick();
      const url = new URL(req.url!, 'http://x'); const action = url.searchParams.get('action')!;
      const send = (status: number, body: string, type = 'application/json') => { res.writeHead(status, { 'content-type': type }); res.end(body); };
      if (!url.pathname.endsWith('/operations') || req.method !== 'POST') return send(404, 'not found', 'text/plain');
      const b = JSON.parse(text); asked.push(`${action}${b.dryRun === false ? ' REAL' : ''}`);
      if (action === 'truncateTimeseriesAspect') {
        const names = ['entityType', 'aspect', 'endTimeMillis', 'dryRun', 'batchSize', 'timeoutSeconds'];
        const unknown = Object.keys(b).find((k) => !names.includes(k));
        if (unknown && o.refuses) return send(o.refuses, JSON.stringify({ message: `unknown field ${unknown}` }));
        const old = stored.filter((t) => t < b.endTimeMillis);
        if (b.dryRun !== false) {
          const p = stored.length ? ((100 * old.length) / stored.length).toFixed(2) : '0.00';
          return send(200, JSON.stringify({ value: `Delete ${old.length} out of ${stored.length} rows (${p}%). Reindexing the aspect without the deleted records. This was a dry run. Run with dryRun = false to execute.` }));
        }
        const id = `node1:${++seq}`;
        const kept = stored.filter((t) => t >= b.endTimeMillis);
        const all = o.counters === 'created' ? kept.length : old.length;
        tasks.set(id, { total: all, done: o.half ? Math.floor(all / 2) : all, endsAt: now() + (o.taskMillis ?? 5000), applied: false, apply() {
          const cutKept = stored.filter((t) => t >= b.endTimeMillis);
          stored = o.half && o.counters === 'created' ? cutKept.slice(0, Math.floor(cutKept.length / 2)) : cutKept.slice(o.loses ?? 0);
        } });
        return o.idShape === 'value' ? send(200, JSON.stringify({ value: id })) : o.idShape === 'json' ? send(200, JSON.stringify(id)) : send(200, id, 'text/plain');
      }
      if (action === 'getEsTaskStatus') {
        const id = b.task ?? `${b.nodeId}:${b.taskId}`; const t = tasks.get(id);
        if (!t || o.noStatus) return send(200, JSON.stringify({ value: JSON.stringify({ error: `Could not get task status for ${id}` }) }));
        const completed = now() >= t.endsAt;
        const s = { completed, taskId: id, runTimeNanos: 5e9, status: { total: t.total, updated: 0, created: o.counters === 'created' ? (completed ? t.done : 0) : 0, deleted: o.counters === 'deleted' ? (completed ? t.done : 0) : 0, batches: 1, version_conflicts: 0, noops: 0, retries: { bulk: 0, search: 0 }, throttled_millis: 0, requests_per_second: -1.0, throttled_until_millis: 0 } };
        const j = JSON.stringify(s);
        return send(200, o.statusShape === 'object' ? j : o.statusShape === 'string' ? JSON.stringify(j) : o.statusShape === 'value-string' ? JSON.stringify({ value: j }) : JSON.stringify({ value: s }));
      }
      if (action === 'getIndexSizes' && o.sizes) return send(200, JSON.stringify({ value: JSON.stringify({ sizes: [{ indexName: 'dataset_operationaspect_v1', entityType: 'dataset', aspect: 'operation', sizeMb: 12 }] }) }));
      send(400, JSON.stringify({ message: 'unknown action' }));
    });
  });
  return { server, asked, rows: () => (tick(), stored.length) };
}
