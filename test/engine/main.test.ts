import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { programs } from '../programs.ts';

/** `npm run test:engine` if there is no engine to test against, or none that it may use. */

function node(args: string[], env: Record<string, string>): Promise<{ status: number | null; said: string }> {
  const child = spawn(process.execPath, args, { env: { HOME: tmpdir(), ...env } });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += part));
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, said })));
}

const testEngine = (env: Record<string, string>, options: string[] = []) =>
  node([programs['test-engine'], ...options], { PATH: process.env['PATH']!, ...env });

/** An OpenSearch of the known version that holds these indices, and notes how it is asked. */
async function engineWith(indices: string[]): Promise<{ address: string; methods: (string | undefined)[] }> {
  const methods: (string | undefined)[] = [];
  const root = { version: { distribution: 'opensearch', number: '2.19.1' } };
  const server = createServer(({ method, url }, response) => {
    methods.push(method);
    const body = url === '/' ? root : indices.map((index) => ({ index }));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, methods };
}

test('without Java it says in one line that it is skipped, and ends with status 0', async () => {
  const bin = mkdtempSync(join(tmpdir(), 'only-node-'));
  onTestFinished(() => rmSync(bin, { recursive: true }));
  symlinkSync(process.execPath, join(bin, 'node'));
  expect(await testEngine({ PATH: bin })).toEqual({
    status: 0,
    said: 'The tests against a real search engine are skipped: there is no Java here.\n',
  });
});

test('an engine that holds indices is refused, and left as it is', async () => {
  const { address, methods } = await engineWith(['customers', '.tasks']);
  const { status, said } = await testEngine({ OPENSEARCH_URL: address });
  expect(said).toMatch(/^The search engine at \S+ holds indices \(customers\): these tests want an empty one\.\n$/);
  expect(status).toBe(2);
  expect(methods).toEqual(['GET', 'GET']);
});

test.concurrent.each([
  [
    'is on another machine',
    'http://10.0.0.5:9200',
    /^The search engine at 10\.0\.0\.5:9200 is not on this machine: [^\n]+\n$/,
  ],
  ['does not answer', 'http://127.0.0.1:9', /^No search engine answers at 127\.0\.0\.1:9 [^\n]+\n$/],
])('an engine that %s is refused in one sentence', async (_, url, sentence) => {
  const { status, said } = await testEngine({ OPENSEARCH_URL: url });
  expect(said).toMatch(sentence);
  expect(status).toBe(2);
});

test('an engine that nobody knows is refused with the names of those that are', async () => {
  const { status, said } = await testEngine({}, ['--engine', 'solr']);
  expect(said).toBe(
    '--engine: known are --engine opensearch-2|opensearch-3|elasticsearch-7, --core, --case TEXT and --out FOLDER.\n',
  );
  expect(status).toBe(2);
});
