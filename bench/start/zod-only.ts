import * as z from 'zod';

const schema = z.object({ name: z.string() });

export const handler = async (value: unknown) => schema.parse(value);
