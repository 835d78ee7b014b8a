import type { Report, ReportFacts } from '../../../lambda/facts/report-schema.ts';
import { worded } from '../../../lambda/wording/worded.ts';
import { type Deployment, deploy } from '../deployment.ts';
import { type Night, production } from './night.ts';

/** A night that has been played, with what it left. */
export interface Played {
  report: Report;
  /** What the report was made of. */
  facts: ReportFacts;
  deployment: Deployment;
}

/** @param words makes English of the facts of reports; as on Lambda if left out */
export async function play(night: Night, words: (facts: ReportFacts) => Report = worded): Promise<Played> {
  const deployments: Deployment[] = [];
  let told: ReportFacts | undefined;
  try {
    const report = await night.play(async (options) => {
      const deployment = await deploy(production(options));
      // An address of a private network, as behind an internal load balancer.
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
    return { report: withoutPort(report), facts: withoutPort(told), deployment };
  } finally {
    for (const deployment of deployments) await deployment.close();
  }
}

const played = new WeakMap<Night, Promise<Played>>();

/** The night as it is played on Lambda, once for all tests in this process: nobody may change what it left. */
export function playedOnce(night: Night): Promise<Played> {
  const known = played.get(night) ?? play(night);
  played.set(night, known);
  return known;
}

/** A missing server is reported with its port, which differs each time. */
const withoutPort = <Told extends Report | ReportFacts>(told: Told): Told =>
  JSON.parse(JSON.stringify(told).replace(/127\.0\.0\.1:\d+/g, 'gms.internal.example.com:8080'));
