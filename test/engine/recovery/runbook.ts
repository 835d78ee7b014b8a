import { readFileSync } from 'node:fs';
import { sectionOf } from '../../../lambda/report/guide/runbook.ts';

/** A request of the runbook. */
export interface Request {
  method: string;
  path: string;
  body?: string;
}

const page = () => readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');

/**
 * The requests that each numbered step of a section prints.
 * @param part the heading of a part of it; the whole section where it has no such part
 */
export function stepsOf(section: string, markdown = page(), part = 'After a reindex'): Map<number, Request[]> {
  const text = sectionOf(markdown, section);
  if (text === undefined) throw new Error(`the runbook has no section ${section}`);
  const steps = new Map<number, Request[]>();
  const parts = text.split(/^(?=### )/m);
  const chosen = parts.find((each) => each.startsWith(`### ${part}\n`)) ?? text;
  // A step's further lines are indented.
  for (const [step, number] of chosen.matchAll(/^(\d+)\. .*(?:\n(?: .*)?)*/gm)) {
    const blocks = [...step.matchAll(/```text\n([\s\S]*?)```/g)].map(([, block = '']) => block);
    steps.set(Number(number), blocks.map(requestIn));
  }
  return steps;
}

/**
 * A block, as the consoles of Kibana and OpenSearch Dashboards read it: one request, its method and path on the first
 * line, its body on those after it.
 */
export function requestIn(block: string): Request {
  const [first = '', ...rest] = block.trim().split('\n');
  const [, method = '', path] = /^(GET|HEAD|PUT|POST|DELETE) (\S+)$/.exec(first.trim()) ?? [];
  if (path === undefined) throw new Error(`no request, or a body beside its path: ${first}`);
  const body = rest
    .map((line) => line.trim())
    .join('\n')
    .trim();
  // Words in capitals stand for something: a number, where nothing quotes them.
  if (body !== '') JSON.parse(body.replace(/(?<![\w"])[A-Z]{3,}(?![\w"])/g, '0'));
  const bare = path.split('?')[0] ?? '';
  if (body === '' && /\/_count$/.test(bare)) throw new Error(`counts every row: ${first}`);
  return { method, path: path.replace(/^\/?/, '/'), ...(body && { body }) };
}

/** Puts names in the place of the runbook's words in capitals. */
export function filled({ method, path, body }: Request, names: Readonly<Record<string, string>>): Request {
  const fill = (text: string) => text.replaceAll(/\b[A-Z]{3,}\b/g, (word) => names[word] ?? word);
  return { method, path: fill(path), ...(body && { body: fill(body) }) };
}
