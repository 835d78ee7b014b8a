import type { Destination } from '../destination.ts';
import { amazonQ } from './amazon-q.ts';
import { json } from './json.ts';
import { mail } from './mail.ts';
import { slack } from './slack.ts';
import { teams } from './teams.ts';

/** Every destination: options, schemas, tests and the table of docs/messages.md follow from this list. */
const list = [slack, teams, json, mail, amazonQ] as const;

export type DestinationName = (typeof list)[number]['name'];

export const destinationNames = list.map(({ name }) => name);

export const destinations = Object.fromEntries(list.map((one) => [one.name, one])) as Readonly<
  Record<DestinationName, Destination>
>;
