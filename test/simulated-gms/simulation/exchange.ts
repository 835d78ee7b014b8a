/** What goes in and out of the engine: one request, and its answer, if any. */

export interface IncomingRequest {
  method: string;
  /** Path and query. */
  path: string;
  /** Names in lower case. */
  headers: Record<string, string | undefined>;
  body: string;
}

export interface HttpReply {
  kind: 'reply';
  status: number;
  headers: Record<string, string>;
  body: string;
  /** How long the client waits for it; the server has already acted. */
  delayMillis: number;
}

/** The connection is cut, or stays open without a response. */
export interface ConnectionFault {
  kind: 'reset' | 'no-answer';
  delayMillis: number;
}

export type Reply = HttpReply | ConnectionFault;

/** An answer sent instead of the server's own. */
export type Substitute = { kind: 'reset' } | { kind: 'no-answer' } | { kind: 'status'; status: number; body?: string };

/** What a test wants for one request. */
export type FaultDecision =
  | { kind: 'pass' }
  /** The server never sees it. */
  | { kind: 'fail-before'; answer: Substitute }
  /** The server acts, at once or later, but the client gets a different answer. */
  | { kind: 'act-then'; answer: Substitute; actsAfterMillis: number };

/** Answers requests, whatever search engine is behind it. */
export interface RequestHandler {
  readonly token: string;
  /** The last requests, oldest first: at least 10,000. */
  readonly asked: readonly Asked[];
  handle(request: IncomingRequest): Reply | Promise<Reply>;
}

/** One request as it was received, without its headers (they contain the token). */
export interface Asked {
  /** Epoch milliseconds of the engine's clock. */
  at: number;
  method: string;
  path: string;
  /** The query parameter `action`, as it was sent. */
  action?: string;
  /** The parsed body, or the text of one that is not JSON; omitted if empty. */
  body?: unknown;
  /** False if something in between answered and the server did nothing. */
  acted: boolean;
  /** Status of the answer, or what happened to the connection. */
  status: number | 'reset' | 'no-answer';
  /** The content of `value`, if it was a string. */
  value?: string;
}

/** Requests that ask for rows to be deleted. */
export const realTruncates = (asked: readonly Asked[]): Asked[] =>
  asked.filter(({ body }) => (body as { dryRun?: boolean } | undefined)?.dryRun === false);

export const json = (status: number, body: string, headers: Record<string, string> = {}): HttpReply => ({
  kind: 'reply',
  status,
  headers: { 'Content-Type': 'application/json', ...headers },
  body,
  delayMillis: 0,
});

export const html = (status: number, title: string, headers: Record<string, string> = {}): HttpReply => ({
  kind: 'reply',
  status,
  headers: { 'Content-Type': 'text/html;charset=utf-8', ...headers },
  body: `<!DOCTYPE html>\n<html>\n<head><title>${title}</title></head>\n<body><h1>${title}</h1></body>\n</html>\n`,
  delayMillis: 0,
});

export const text = (status: number, body: string): HttpReply => ({
  kind: 'reply',
  status,
  headers: body === '' ? {} : { 'Content-Type': 'text/plain; charset=utf-8' },
  body,
  delayMillis: 0,
});
