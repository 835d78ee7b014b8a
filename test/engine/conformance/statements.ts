import type { Statement } from './statement.ts';
import { answerStatements } from './statements/answers.ts';
import { deleteStatements } from './statements/deletes.ts';
import { nodeStatements } from './statements/nodes.ts';
import { reindexStatements } from './statements/reindexes.ts';

/** All statements about the search engine: `npm test` tries them on the simulated one, `npm run test:engine` on a real one. */
export const statements: readonly Statement[] = [
  ...answerStatements,
  ...deleteStatements,
  ...reindexStatements,
  ...nodeStatements,
];
