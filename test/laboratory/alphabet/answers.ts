/**
 * What can happen to a request: the client's answer and the effect on the server, independent of each other. A real
 * truncate can get any answer with any effect; nothing here says which ones go together.
 */

/** The answer that the client receives. */
export const answers = {
  own: 'what the server itself says; 504 where it has done nothing yet',
  slow: 'the same, after up to 110 s',
  sentence: '200 with a sentence that is none of the operation',
  empty: '200 with an empty value',
  garbage: '200, cut in the middle',
  'page 200': '200 with the page of a login',
  redirect: '302 to a login',
  '400': '400 of rest.li',
  '401': '401 of rest.li',
  '403': '403 of a gateway',
  '404': '404',
  '429': '429 with Retry-After',
  '500': '500 of rest.li',
  'page 502': '502 with the page of a proxy',
  '503': '503 of a service mesh',
  '504': '504 in plain text',
  'time-out': 'nothing, while the connection stays open',
  reset: 'the connection is reset',
  'body lost': 'a status, and then the connection is reset',
} as const;
export type Answer = keyof typeof answers;

/** What the server does with a real truncate. */
export const effects = {
  none: 'nothing',
  'at once': 'what it was asked, before the answer',
  half: 'a part: its task dies, is cancelled, or says that it has completed',
  later: 'what it was asked, up to two minutes after',
  'much later': 'what it was asked, up to 20 minutes after the call',
} as const;
export type Effect = keyof typeof effects;

/** Another server behind the same address answers a dry run. */
export const strangers = {
  stranger: 'it does not know the index',
  'empty stranger': 'its index of that name is empty',
} as const;
export type Stranger = keyof typeof strangers;

/** No byte of the request is written. */
export const unwritten = {
  dns: 'the name is not found',
  connect: 'no connection',
  tls: 'no trust',
} as const;

export const namesOf = <Table extends object>(table: Table): (keyof Table)[] => Object.keys(table) as (keyof Table)[];

export const isStranger = (name: string): name is Stranger => name in strangers;
