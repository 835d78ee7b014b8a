import { errors } from '@opensearch-project/opensearch';

/** The answer to a call with wait_for_completion=false. */
export const taskIn = (body: object): string => String((body as { task?: unknown }).task);

/** The way Java's clients print an error. */
export function causeOf(error: unknown): string {
  if (error instanceof errors.ResponseError) {
    const cause = (error.body as { error?: { type?: string; reason?: string } } | undefined)?.error;
    return `OpenSearchStatusException[OpenSearch exception [type=${cause?.type}, reason=${cause?.reason}]]`;
  }
  return `java.net.ConnectException: ${(error as Error).message}`;
}
