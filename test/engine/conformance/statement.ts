import type { Stage, StageOptions } from './stage.ts';

/** Something that is said about the search engine under DataHub, and how it is tried. */
export interface Statement {
  name: string;
  on: StageOptions;
  /** The observation that makes it true. */
  says: string;
  /** It takes minutes or kills the node: only for a real engine that the tests have started, and not in a hurry. */
  kills?: true;
  /** What was observed, in the words of `says` where it is so. */
  observe(stage: Stage): Promise<string>;
}

/**
 * What a cancelled task says of itself. A cancellation first bans the task's next child requests and then marks the task
 * (OpenSearch's TaskCancellationService): one that asks for its next batch in between ends without the word.
 */
export const wordOf = (canceled: string | undefined): string =>
  canceled === undefined || canceled === 'by user request' ? 'by user request or without a word' : canceled;

/** Numbers as what matters of them: nothing, some, all. */
export const share = (part: number, whole: number): string =>
  part === 0 ? 'none' : part === whole ? 'all' : part < whole ? 'some' : 'more than all';
