import type { Reply } from '../../../local/operations-service/exchange.ts';
import type { Answer, Status } from './stage.ts';

/** The service's answers, read. */

export function answerOf(reply: Reply): Answer {
  if (reply.kind !== 'reply') return { status: 0, text: reply.kind };
  const body = JSON.parse(reply.body) as { value?: unknown; message?: string };
  return { status: reply.status, text: body.message ?? String(body.value) };
}

export function statusIn(text: string): Status {
  const outer = JSON.parse(text) as { completed: boolean; status: string };
  return { completed: outer.completed, ...(JSON.parse(outer.status) as Omit<Status, 'completed'>) };
}

export function countsIn(text: string): { matching: number; total: number } {
  const [, matching, total] = /^Delete (\d+) out of (\d+) rows/.exec(text) ?? [];
  return { matching: Number(matching), total: Number(total) };
}
