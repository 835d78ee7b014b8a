import { createServer } from 'node:http';
import { type Listening, listening, textOf } from '../support/loopback.ts';

export type Service = 'ssm' | 'dynamodb' | 'sns';

/** Parameter Store, DynamoDB and SNS as far as the functions use them; each answers, refuses, or says nothing. */
export interface Services extends Listening {
  published: URLSearchParams[];
}

export async function startServices(
  parameters: Record<string, string>,
  how: Partial<Record<Service, 'refuses' | 'hangs'>> = {},
): Promise<Services> {
  const published: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    const target = String(request.headers['x-amz-target'] ?? '');
    const service: Service = target.startsWith('AmazonSSM') ? 'ssm' : target ? 'dynamodb' : 'sns';
    if (how[service] === 'hangs') return;
    if (service === 'sns') {
      const form = new URLSearchParams(text);
      const action = form.get('Action')!;
      if (how.sns === 'refuses') {
        const error = '<Type>Sender</Type><Code>AuthorizationError</Code><Message>not authorized to publish</Message>';
        response.writeHead(403).end(`<ErrorResponse><Error>${error}</Error></ErrorResponse>`);
        return;
      }
      if (action === 'Publish') published.push(form);
      const confirmed = '<entry><key>SubscriptionsConfirmed</key><value>1</value></entry>';
      const result = action === 'Publish' ? '<MessageId>m-1</MessageId>' : `<Attributes>${confirmed}</Attributes>`;
      response.end(`<${action}Response><${action}Result>${result}</${action}Result></${action}Response>`);
      return;
    }
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    if (how[service] === 'refuses') {
      response.writeHead(400).end(JSON.stringify({ __type: 'AccessDeniedException', message: 'not authorized' }));
      return;
    }
    response.end(JSON.stringify(service === 'ssm' ? answer(target, JSON.parse(text)) : { Items: [] }));
  });

  function answer(target: string, asked: { Name?: string; Path?: string }): object {
    const of = ([Name, Value]: [string, string]) => ({ Name, Value });
    if (target.endsWith('GetParametersByPath')) {
      return {
        Parameters: Object.entries(parameters)
          .filter(([name]) => name.startsWith(`${asked.Path}/`))
          .map(of),
      };
    }
    return { Parameter: of([asked.Name!, parameters[asked.Name!] ?? 'false']) };
  }
  return { ...(await listening(server)), published };
}
