type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * The few calls that the deployment test makes to services whose SDK the project does not use otherwise. The emulator treats
 * the access key `test` as the account's root and does not check signatures; the header only names service and region.
 */
export function awsCaller(endpoint: string, region: string) {
  const authorization = (service: string) =>
    `AWS4-HMAC-SHA256 Credential=test/20260101/${region}/${service}/aws4_request, SignedHeaders=host, Signature=none`;

  const send = async (service: string, path: string, { headers, ...request }: RequestInit): Promise<string> => {
    const answer = await fetch(`${endpoint}${path}`, {
      ...request,
      headers: { authorization: authorization(service), ...(headers as Record<string, string>) },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${service} ${path} ${JSON.stringify(headers)}: ${answer.status} ${text}`);
    return text;
  };
  const post = (service: string, headers: Record<string, string>, body: string) =>
    send(service, '/', { method: 'POST', headers, body });

  return {
    /** Calls a service with the JSON protocol; `target` as in `AWSStepFunctions.StartExecution`. */
    // biome-ignore lint/suspicious/noExplicitAny: the answers are the services' own
    async json(service: string, target: string, input: unknown): Promise<any> {
      const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target };
      return JSON.parse((await post(service, headers, JSON.stringify(input))) || '{}');
    },
    /** Calls a service with the REST protocol. */
    // biome-ignore lint/suspicious/noExplicitAny: the answers are the services' own
    async rest(service: string, method: Method, path: string, input?: unknown): Promise<any> {
      const body = input === undefined ? {} : { body: JSON.stringify(input) };
      return JSON.parse((await send(service, path, { method, ...body })) || '{}');
    },
    /** Calls a service with the query protocol; returns the XML. */
    query(service: string, action: string, version: string, parameters: Record<string, string>): Promise<string> {
      const body = new URLSearchParams({ Action: action, Version: version, ...parameters }).toString();
      return post(service, { 'content-type': 'application/x-www-form-urlencoded' }, body);
    },
  };
}

export type AwsCaller = ReturnType<typeof awsCaller>;

/** The text of the first element with this name. */
export const xmlText = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
