import type { Report, ReportFacts } from '../../../lambda/facts/report-schema.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import { worded } from '../../../lambda/wording/worded.ts';
import { type Deployment, deploy } from '../deployment.ts';
import { type Night, production } from './night.ts';

/** What a night left behind, as plain JSON. */
export interface Played {
  report: Report;
  /** What the report was made from. */
  facts: ReportFacts;
  /** The stage's mode: a run of an enforcing stage may be a preview. */
  mode: RunSettings['mode'];
  ledger: [index: string, record: unknown][];
  states: RunState[];
}

/** @param words turns the facts of reports into English; by default as on Lambda */
export async function play(night: Night, words: (facts: ReportFacts) => Report = worded): Promise<Played> {
  const deployments: Deployment[] = [];
  let told: ReportFacts | undefined;
  try {
    const report = await night.play(async (options) => {
      const deployment = await deploy(production(options));
      // A private network address, as behind an internal load balancer.
      deployment.services.surroundings = { onLambda: true, lookup: async () => ['10.0.3.7'] };
      deployment.words = (facts) => {
        told = facts;
        return words(facts);
      };
      deployments.push(deployment);
      return deployment;
    });
    const [deployment] = deployments;
    if (!deployment || !told) throw new Error('a night without a deployment, or without a report');
    const { settings, ledger, states } = deployment;
    return withoutPort({ report, facts: told, mode: settings.mode, ledger: [...ledger.stored], states });
  } finally {
    for (const deployment of deployments) await deployment.close();
  }
}

/** The report of a missing server contains its port, which differs each time. */
const withoutPort = (played: Played): Played =>
  JSON.parse(JSON.stringify(played).replace(/127\.0\.0\.1:\d+/g, 'gms.internal.example.com:8080'));
