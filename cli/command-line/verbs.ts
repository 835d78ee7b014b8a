import type { OptionName } from './options.ts';

/** What the program does, described once: help, errors and the tests of the documents all follow from this. */

export type Verb = 'survey' | 'preview' | 'enforce' | 'clear' | 'history' | 'validate' | 'demo';

export interface VerbDescription {
  /** One line for the general help. */
  does: string;
  /** Text that only its own help shows. */
  more?: string;
  /** Whether an index follows the verb. */
  index?: 'optional' | 'required';
  options: readonly OptionName[];
  /** An option without which it cannot work, whatever is in the environment. */
  needs?: OptionName;
  /** Options whose meaning differs here. */
  says?: Partial<Record<OptionName, string>>;
  /** The words after the verb, as a person would type them. */
  example: string;
}

const server = ['gmsUrl', 'tokenFile', 'caFile'] as const;
const written = ['json', 'html', 'force'] as const;
const notified = ['notifyUrlFile', 'notify', 'notifyFormat'] as const;
const run = ['ledger', 'name', ...written, 'log', ...notified, 'fast'] as const;

export const verbs: Record<Verb, VerbDescription> = {
  survey: {
    does: 'looks at a server, read-only: sizes, ages, hints, suggested policies',
    options: [...server, 'ledger', 'name', ...written, 'log', 'fast'],
    says: {
      json: 'write the suggested policies; - is standard output',
      ledger: 'for the page: the nights remembered next to this ledger',
    },
    example: '--gms-url http://localhost:8080 --token-file token.txt --json policies.json',
  },
  preview: {
    does: 'says what a run would do; changes nothing',
    options: [...server, 'policies', 'only', ...run],
    needs: 'policies',
    example: '--gms-url http://localhost:8080 --token-file token.txt --policies policies.json',
  },
  enforce: {
    does: 'truncates for real, and proves the result by counting again',
    options: [...server, 'policies', 'only', 'approveRows', ...run],
    needs: 'policies',
    says: { fast: 'wait at most 0.2 s at a time; for sample data only' },
    example: '--gms-url https://datahub.example.com/api/gms --token-file token.txt --policies policies.json',
  },
  clear: {
    does: 'reopens a closed index if no row is missing; truncates nothing',
    index: 'required',
    options: [...server, 'acceptMissing', 'policies', ...run],
    says: {
      policies: 'also allows an INDEX that only a policy names',
      fast: 'wait at most 0.2 s at a time; for sample data only',
    },
    example: 'dataset.operation --gms-url https://datahub.example.com/api/gms --token-file token.txt',
  },
  history: {
    does: 'shows what earlier runs saw of each index, night by night; does not contact DataHub',
    index: 'optional',
    options: ['stage', 'ledger', ...written],
    says: { json: 'write the nights there; - is standard output', ledger: 'the memory next to another ledger' },
    example: 'dataset.operation --html history.html',
  },
  validate: {
    does: 'checks files without asking any server: status 0, or 2 with every mistake',
    options: ['policies', 'stage'],
    says: { stage: 'a stage file, named after its stage: <stage>.json' },
    example: '--policies policies.json --stage infra/stages/prod.json',
  },
  demo: {
    does: 'a whole run on this machine, on sample data',
    more: 'It really truncates, with its waits cut short; the operations service and its rows exist only for this run.',
    options: ['policies', 'only', 'approveRows', 'name', ...written, 'log', ...notified],
    example: '--html run.html',
  },
};

export const verbNames = Object.keys(verbs) as Verb[];

export const isVerb = (word: string | undefined): word is Verb => word !== undefined && Object.hasOwn(verbs, word);

export const takes = (verb: Verb, option: OptionName): boolean => verbs[verb].options.includes(option);

/** The verbs that take an option, in the order of the help. */
export const verbsWith = (option: OptionName): Verb[] => verbNames.filter((verb) => takes(verb, option));
