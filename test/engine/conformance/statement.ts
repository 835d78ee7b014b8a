import type { Stage, StageOptions } from './stage.ts';

/** Something that we claim about the search engine under DataHub, and how it is tried. */
export interface Statement {
  name: string;
  on: StageOptions;
  /** The observation that makes it true. */
  says: string;
  /** It takes minutes or kills the node: on a real engine it is tried only if the tests have started that engine. */
  kills?: true;
  /** What was observed, in the words of `says` if it holds. */
  observe(stage: Stage): Promise<string>;
}

/**
 * What a cancelled task reports. A cancellation first bans the task's next child requests and then marks the task
 * (OpenSearch's TaskCancellationService): a task that requests its next batch in between ends without `canceled`.
 */
export const wordOf = (canceled: string | undefined): string =>
  canceled === undefined || canceled === 'by user request' ? 'by user request or without a word' : canceled;

/** What matters about a number: nothing, some or all. */
export const share = (part: number, whole: number): string =>
  part === 0 ? 'none' : part === whole ? 'all' : part < whole ? 'some' : 'more than all';
