import { type Destination, serialize } from '../destination.ts';
import { textOfNote } from '../sentences/sentences.ts';
import { shorten } from '../shorten.ts';

/** As much as SNS carries. */
const maxCharacters = 260_000;

/**
 * The report itself, for programs: exactly the report, unless that had to be shortened (a note in it says so) or
 * contained a secret or a stack trace.
 */
export const json = {
  name: 'json',
  what: 'the report',
  limits: { characters: maxCharacters },
  render: ({ report, context }, fits = (body) => serialize(body).length <= maxCharacters) =>
    shorten(report, fits, (note) => textOfNote(note, context)),
} as const satisfies Destination;
