import { taskKind } from '../backend.ts';

/**
 * Recognises the id of a started task in the answer to a real truncate.
 * @returns undefined for everything else (an empty value, a sentence): whether something started is then unknown.
 */
export function readTaskId(text: string): string | undefined {
  const taskId = text.trim();
  return taskKind(taskId) && taskId;
}
