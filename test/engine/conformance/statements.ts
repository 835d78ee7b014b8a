import type { Statement } from './statement.ts';
import { answerStatements } from './statements/answers.ts';
import { deleteStatements } from './statements/deletes.ts';
import { nodeStatements } from './statements/nodes.ts';
import { reindexStatements } from './statements/reindexes.ts';

/** All that is said about the search engine: tried on the simulated one by `npm test`, on a real one by `npm run test:engine`. */
export const statements: readonly Statement[] = [
  ...answerStatements,
  ...deleteStatements,
  ...reindexStatements,
  ...nodeStatements,
];
