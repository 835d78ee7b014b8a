import type { Report } from '../../facts/report-schema.ts';
import type { ServerError } from '../../facts/server-error.ts';

/** What the run's error and its policies say about failed requests. */
export const errorsOf = ({ cause, policies }: Report): ServerError[] =>
  [cause, ...policies.map((entry) => entry.cause)].flatMap((told) =>
    told && 'error' in told && typeof told.error === 'object' ? [told.error] : [],
  );

/** Whether two requests failed in the same way; what they asked for may differ. */
export const isSameError = (one: ServerError, other: ServerError): boolean =>
  one.kind === other.kind && one.status === other.status && one.text === other.text && one.code === other.code;
