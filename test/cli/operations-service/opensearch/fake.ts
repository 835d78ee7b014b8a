import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A search engine that only records its requests, for tests of which calls are made and in which order. */

export interface Call {
  /** Method, path and query. */
  line: string;
  body: unknown;
  headers: Record<string, unknown>;
}

export interface FakeOptions {
  distribution?: string;
  number?: string;
  /** Real indices behind any alias. */
  behind?: string[];
  /** Paths (or their beginnings) that are refused, with status and error type. */
  refuse?: Record<string, [status: number, type: string]>;
}

export async function fakeEngine({ distribution = 'opensearch', number = '2.19.1', ...more }: FakeOptions = {}) {
  const calls: Call[] = [];
  const behind = more.behind ?? ['dataset_operationaspect_v1_1700000000000'];
  const answers: [RegExp, () => unknown][] = [
    [/^GET \/$/, () => ({ version: { ...(distribution && { distribution }), number } })],
    [/_count/, () => ({ count: 12 })],
    [/_cat\/indices/, () => behind.map((index) => ({ index }))],
    [/_cluster\/settings/, () => ({ transient: {}, persistent: {} })],
    [/_alias\//, () => Object.fromEntries(behind.map((name) => [name, { aliases: {} }]))],
    [/_mapping/, () => Object.fromEntries(behind.map((name) => [name, { mappings: { properties: {} } }]))],
    [/_delete_by_query/, () => ({ task: 'node:7' })],
    [/_reindex/, () => ({ task: 'node:8' })],
    [/_stats/, () => ({ indices: Object.fromEntries(behind.map((name) => [name, store(2_000_000)])) })],
    [
      /_tasks\//,
      () => ({
        completed: true,
        task: { running_time_in_nanos: 5, status: { total: 3, deleted: 3, requests_per_second: -1 } },
      }),
    ],
  ];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const line = `${request.method} ${request.url}`;
    calls.push({ line, body: text === '' ? undefined : parsed(text), headers: request.headers });
    const refused = Object.entries(more.refuse ?? {}).find(([path]) => request.url?.startsWith(path))?.[1];
    response.setHeader('Content-Type', 'application/json');
    if (refused) {
      const index = /^\/(\w+)\/_count/.exec(request.url ?? '')?.[1];
      response.writeHead(refused[0]).end(JSON.stringify({ error: { type: refused[1], reason: 'so it is', index } }));
    } else {
      const answer = answers.find(([pattern]) => pattern.test(line))?.[1]() ?? { acknowledged: true };
      response.end(JSON.stringify(answer));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    /** Method and path of each call except the first, which asks for the product. */
    lines: () => calls.slice(1).map(({ line }) => line.replaceAll(/_1[0-9]{12}/g, '_TIME')),
    close,
  };
}

const store = (bytes: number) => ({ primaries: { store: { size_in_bytes: bytes } } });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
