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
}

/** An answer; or the connection is cut, or stays open without a response. */
export type Reply = (HttpReply | { kind: 'reset' | 'no-answer' }) & {
  /** How long the client waits for it; the server has already acted. */
  delayMillis?: number;
};

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
  path: string;
  /** The parsed body, or the text of one that is not JSON; omitted if empty. */
  body?: unknown;
  /** The content of `value` in the server's own answer, if it was a string, whatever the client got. */
  value?: string;
}

/** Requests that ask for rows to be deleted. */
export const realTruncates = (asked: readonly Asked[]): Asked[] =>
  asked.filter(({ body }) => (body as { dryRun?: boolean } | undefined)?.dryRun === false);

const reply = (status: number, body: string, headers: Record<string, string>): HttpReply => ({
  kind: 'reply',
  status,
  headers,
  body,
});

export const json = (status: number, body: string): HttpReply =>
  reply(status, body, { 'Content-Type': 'application/json' });

export const html = (status: number, title: string, headers: Record<string, string> = {}): HttpReply =>
  reply(
    status,
    `<!DOCTYPE html>\n<html>\n<head><title>${title}</title></head>\n<body><h1>${title}</h1></body>\n</html>\n`,
    { 'Content-Type': 'text/html;charset=utf-8', ...headers },
  );

export const text = (status: number, body: string): HttpReply =>
  reply(status, body, body === '' ? {} : { 'Content-Type': 'text/plain; charset=utf-8' });
