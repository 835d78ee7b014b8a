import { errors } from '@opensearch-project/opensearch';

/** The answer to a call with wait_for_completion=false. */
export const taskIn = (body: object): string => String((body as { task?: unknown }).task);

/** True if the search engine has refused; false if it was unreachable. */
export const answered = (error: unknown): error is errors.ResponseError => error instanceof errors.ResponseError;

/** A refusal as Java's client prints it: the index comes first if the search engine names one. */
export function causeOf({ body }: errors.ResponseError): string {
  const cause = (body as { error?: { type?: string; reason?: string; index?: string } })?.error;
  const index = cause?.index === undefined ? '' : `[${cause.index}] `;
  return `${index}OpenSearchStatusException[OpenSearch exception [type=${cause?.type}, reason=${cause?.reason}]]`;
}
