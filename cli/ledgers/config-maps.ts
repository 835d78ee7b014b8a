import { retryAfterMillis } from '../../lambda/gms/http/retry.ts';
import { parseJson } from '../../lambda/gms/responses/json-value.ts';
import { redactor } from '../../lambda/gms/secrets.ts';
import { oneLine } from '../../lambda/report/sentences/text.ts';
import { readGuarded } from '../inputs/read-text.ts';
import { NoAnswerError, sendRequest } from '../inputs/request.ts';

/** The ConfigMaps of one namespace, over the API of Kubernetes. Nothing is retried here. */

export interface ConfigMap {
  metadata: {
    name: string;
    /** Of this object: one that was deleted and made again has another. */
    uid?: string;
    /** Changes with every write by anyone. */
    resourceVersion?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    managedFields?: unknown;
  };
  data?: Record<string, string>;
}

export type ConfigMaps = ReturnType<typeof configMaps>;

interface WriteOptions {
  /** Everything is checked, permissions included, and nothing is stored. */
  dryRun?: boolean;
}

/** The API has refused, or has not answered; `message` says what came back. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** Undefined if no answer came. */
  readonly status: number | undefined;
  /** What the answer asks to wait before the next attempt. */
  readonly retryAfterMillis: number | undefined;
  /** Nothing was asked: this file of the service account cannot be read. */
  readonly unreadableFile: string | undefined;

  constructor(message: string, status?: number, retryAfter?: number, unreadableFile?: string) {
    super(message);
    this.status = status;
    this.retryAfterMillis = retryAfter;
    this.unreadableFile = unreadableFile;
  }

  /** The same request may succeed later. A write may have been stored all the same. 410: a list has to begin anew. */
  get isTransient(): boolean {
    return this.status === undefined || this.status === 410 || this.status === 429 || this.status >= 500;
  }
}

export interface ApiAccess {
  url: string;
  namespace: string;
  /** Read for each request: the node replaces both files while the pod runs. */
  token: () => string;
  ca?: () => string;
  timeoutMillis?: number;
}

/** Where a pod finds what Kubernetes gives it; the chart mounts it there. */
const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The access of a pod's service account. @returns undefined outside a pod that has one */
export function podAccess(env: NodeJS.ProcessEnv, folder = accountFolder): ApiAccess | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) return undefined;
  const read = (name: string) => readGuarded(`${folder}/${name}`).trim();
  try {
    return {
      url: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
      namespace: read('namespace'),
      token: () => read('token'),
      ca: () => read('ca.crt'),
    };
  } catch {
    return undefined;
  }
}

/** An API server answers within a second; its own limit for a request is a minute. */
const answerTimeoutMillis = 15_000;
/** A page of records has less than a megabyte. */
const maxAnswerBytes = 64 * 1024 * 1024;
const connectTimeoutMillis = 5_000;
const pageLength = 200;
const maxPages = 100;

export function configMaps({ url, namespace, token, ca, timeoutMillis = answerTimeoutMillis }: ApiAccess) {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`;
  const at = (name: string) => `${path}/${encodeURIComponent(name)}`;

  const ask = async (method: 'GET' | 'POST' | 'PUT', target: string, body?: ConfigMap): Promise<string> => {
    let answer: Awaited<ReturnType<typeof sendRequest>>;
    let clean: (text: string) => string;
    try {
      const secret = token();
      clean = redactor([secret]);
      // No proxy, whatever the environment says: the address is the cluster's own.
      answer = await sendRequest({
        url: `${url}${target}`,
        method,
        tls: ca && { ca: ca() },
        headers: {
          authorization: `Bearer ${secret}`,
          accept: 'application/json',
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', ...body }) }),
        limits: { openMillis: connectTimeoutMillis, totalMillis: timeoutMillis, maxBytes: maxAnswerBytes },
      });
    } catch (error) {
      throw noAnswer(error);
    }
    const { status, headers, complete } = answer;
    const said = answer.body.toString('utf8');
    if (status < 200 || status >= 300) {
      const wait = retryAfterMillis(headers['retry-after'], Date.now());
      throw new ApiError(`the API server answered ${status}${clean(reasonIn(said))}`, status, wait);
    }
    // A write has been stored, even if the rest of the answer is lost.
    if (method === 'GET' && !complete) throw new ApiError('the answer of the API server broke off');
    return said;
  };

  const write = (method: 'POST' | 'PUT', target: string, map: ConfigMap, { dryRun = false }: WriteOptions = {}) =>
    ask(method, `${target}${dryRun ? '?dryRun=All' : ''}`, map).then(() => {});

  return {
    namespace,
    /** Undefined if there is none of this name. Like all reads here, consistent: it asks for no `resourceVersion`. */
    async get(name: string): Promise<ConfigMap | undefined> {
      try {
        return parsed<ConfigMap>(await ask('GET', at(name)));
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      }
    },
    async list(selector: string): Promise<ConfigMap[]> {
      const found: ConfigMap[] = [];
      let next: string | undefined;
      let pages = 0;
      do {
        if (++pages > maxPages) throw new ApiError('the API server lists ConfigMaps without an end');
        const query = new URLSearchParams({ labelSelector: selector, limit: `${pageLength}` });
        if (next) query.set('continue', next);
        const page = parsed<{ items?: ConfigMap[]; metadata?: { continue?: string } }>(
          await ask('GET', `${path}?${query}`),
        );
        found.push(...(page.items ?? []));
        next = page.metadata?.continue;
      } while (next);
      return found;
    },
    create: (map: ConfigMap, options?: WriteOptions) => write('POST', path, map, options),
    /**
     * Replaces one whole. `map` has the `resourceVersion` and uid that were read: without them, the API would overwrite
     * whatever is there.
     */
    update: (map: ConfigMap, options?: WriteOptions) => write('PUT', at(map.metadata.name), map, options),
  };
}

function parsed<T>(text: string): T {
  const value = parseJson(text);
  if (value === undefined) throw new ApiError('the answer is not from an API server: it is not JSON');
  return value as T;
}

/** A refusal is an object of kind Status, whose message is for people. */
function reasonIn(text: string): string {
  const { message } = Object(parseJson(text)) as { message?: unknown };
  return typeof message === 'string' ? ` (${oneLine(message, 300)})` : '';
}

/** @throws what neither a file nor the network has caused */
function noAnswer(error: unknown): ApiError {
  const { code: file, path } = error as { code?: string; path?: string };
  if (path !== undefined) return new ApiError(`${path} cannot be read (${file})`, undefined, undefined, path);
  if (!(error instanceof NoAnswerError)) throw error;
  const { stage, code } = error;
  const why = code === undefined ? '' : ` (${code})`;
  return new ApiError(
    stage === 'tls' ? `the certificate of the API server is not trusted${why}` : `no answer from the API server${why}`,
  );
}
