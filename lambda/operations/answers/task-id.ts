/**
 * The check that GMS itself makes before it asks its search engine (OperationsResource in datahub); the number must not
 * be 0.
 */
const pollable = /^[a-zA-Z0-9-_]{1,200}:0*[1-9][0-9]{0,18}$/;

/** The Postgres backend's background deletion has a UUID, which `getEsTaskStatus` refuses (datahub PR #18816). */
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Recognises the id of a started task in the answer to a real truncate.
 * @returns undefined for everything else (an empty value, a sentence): whether something started is then unknown.
 */
export function readTaskId(text: string): { taskId: string; pollable: boolean } | undefined {
  const taskId = text.trim();
  if (pollable.test(taskId)) return { taskId, pollable: true };
  return uuid.test(taskId) ? { taskId, pollable: false } : undefined;
}
