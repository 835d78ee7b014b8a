import * as z from 'zod';
import { serverErrorSchema } from './server-error.ts';
import { type UnionOf, unionSchema } from './union.ts';

/** One check of a preflight: whether one aspect of this server is usable, as data. */

export const checkNames = [
  'Address',
  'DNS',
  'Connection',
  'Token',
  'Sizes',
  'Truncation',
  'Task status',
  'Clock',
  'Copies',
] as const;
export type CheckName = (typeof checkNames)[number];

const kinds = {
  address: {
    url: z.string(),
    encrypted: z.boolean(),
    private: z.boolean().optional().meta({ description: 'every address of the host is of a private network' }),
  },
  /** Nothing at this address understood an operation. */
  elsewhere: { error: serverErrorSchema },
  dns: { host: z.string(), addresses: z.array(z.string()), isAddress: z.boolean().optional() },
  'dns-failed': { host: z.string(), error: serverErrorSchema.optional() },
  connection: { tls: z.boolean() },
  'not-connected': { error: serverErrorSchema, loopback: z.boolean(), port: z.string() },
  token: { expiresAt: z.number().optional() },
  'token-refused': { error: serverErrorSchema, expiresAt: z.number().optional() },
  allowed: {},
  refused: { error: serverErrorSchema },
  /** No answer in time. */
  unanswered: {},
  clock: { skewMillis: z.number() },
  /** Indices whose name says that they were created recently. */
  'copied-lately': {
    indices: z.array(z.string()),
    more: z.number().optional().meta({ description: 'how many are not listed' }),
    upgraded: z.boolean().meta({ description: 'by an upgrade without downtime' }),
    until: z.number().meta({ description: 'a copy may still be under way until then, epoch milliseconds' }),
  },
} as const;

export type Finding = UnionOf<typeof kinds>;

export const checkSchema = z.object({
  name: z.enum(checkNames),
  state: z.enum(['ok', 'note', 'failed']).meta({ description: 'note: works, but worth knowing' }),
  cause: unionSchema(kinds, 'Finding', 'what the check found, as data'),
});

/** A check as the core produces it; the report adds the wording. */
export type Check = z.infer<typeof checkSchema>;
