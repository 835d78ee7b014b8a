import { createServer } from 'node:http';
import { type Listening, listening, textOf } from '../support/loopback.ts';

export type Service = 'ssm' | 'dynamodb' | 'sns';

/** What is in DynamoDB, for several functions: items by their keys. */
export type Table = Map<string, Item>;
type Item = Record<'ledger' | 'index', { S: string }>;

interface Asked {
  Key?: Item;
  Item?: Item | undefined;
  ExpressionAttributeValues?: Record<string, { S?: string }>;
}

/** Parameter Store, DynamoDB and SNS as far as the functions use them; each answers, refuses, or says nothing. */
export interface Services extends Listening {
  published: URLSearchParams[];
}

export async function startServices(
  parameters: Record<string, string>,
  how: Partial<Record<Service, 'refuses' | 'hangs'>> = {},
  table: Table = new Map(),
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
    const said = (service === 'ssm' ? answer : stored)(target, JSON.parse(text));
    if (said === undefined) response.statusCode = 400;
    response.end(JSON.stringify(said ?? { __type: 'ParameterNotFound', message: 'no such parameter' }));
  });

  /** There is one writer at a time, so that no condition fails. */
  function stored(target: string, { Key, Item = Key, ExpressionAttributeValues: values }: Asked): object {
    if (Item === undefined) {
      return { Items: [...table.values()].filter(({ ledger }) => ledger.S === values?.[':ledger']?.S) };
    }
    const name = `${Item.ledger.S} ${Item.index.S}`;
    if (target.endsWith('PutItem')) table.set(name, Item);
    return { Item: table.get(name) };
  }

  function answer(target: string, asked: { Name?: string; Path?: string }): object | undefined {
    const of = ([Name, Value]: [string, string]) => ({ Name, Value });
    if (target.endsWith('GetParametersByPath')) {
      return {
        Parameters: Object.entries(parameters)
          .filter(([name]) => name.startsWith(`${asked.Path}/`))
          .map(of),
      };
    }
    const value = parameters[asked.Name!];
    return value === undefined ? undefined : { Parameter: of([asked.Name!, value]) };
  }
  return { ...(await listening(server)), published };
}
