import { readFileSync } from 'node:fs';
import { sectionOf } from '../../../lambda/report/guide/runbook.ts';

/** A request of the runbook. */
export interface Request {
  method: string;
  path: string;
  body?: string;
}

const page = () => readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');

/** The requests that each numbered step of a section prints. */
export function stepsOf(section: string, markdown = page()): Map<number, Request[]> {
  const text = sectionOf(markdown, section);
  if (text === undefined) throw new Error(`the runbook has no section ${section}`);
  const steps = new Map<number, Request[]>();
  // A step's further lines are indented.
  for (const [step, number] of text.matchAll(/^(\d+)\. .*(?:\n(?: .*)?)*/gm)) {
    const blocks = [...step.matchAll(/```text\n([\s\S]*?)```/g)].map(([, block = '']) => block.trim());
    const lines = blocks.flatMap((block) => block.split('\n'));
    steps.set(Number(number), lines.map(requestIn));
  }
  return steps;
}

function requestIn(line: string): Request {
  const [, method = '', path, body] = /^(GET|PUT|POST) (\S+)(?: (\{.*\}))?$/.exec(line.trim()) ?? [];
  if (path === undefined) throw new Error(`the runbook prints something else than a request: ${line}`);
  return { method, path: path.replace(/^\/?/, '/'), ...(body && { body }) };
}

/** Puts names in the place of the runbook's words in capitals. */
export function filled({ method, path, body }: Request, names: Readonly<Record<string, string>>): Request {
  const fill = (text: string) => text.replaceAll(/\b[A-Z]{3,}\b/g, (word) => names[word] ?? word);
  return { method, path: fill(path), ...(body && { body: fill(body) }) };
}
