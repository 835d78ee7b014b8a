import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { programOfPrometheus } from '../cluster/programs.ts';
import { root } from '../pages/commands.ts';
import { skipped } from '../support/skips.ts';
import { findHelm, toolsFolder } from './tools.ts';

/** The rules of the chart, evaluated by Prometheus's own tool over made-up series that begin with the installation. */

const { folder, remove } = toolsFolder();
afterAll(remove);
const helm = findHelm();
const evaluator = programOfPrometheus('promtool');
if (evaluator === undefined) skipped('The alerts are not tried: there is no promtool, and no Debian to take it from.');

const cronJob = 'namespace="datahub", cronjob="dh-datahub-retention"';
const hour = 3600;

/** Values of one series, one every five minutes, for ten days. */
type Series = Record<string, (seconds: number) => number | undefined>;

const created: Series = { [`kube_cronjob_created{${cronJob}}`]: () => 0 };
const running: Series = { [`kube_cronjob_spec_suspend{${cronJob}}`]: () => 0 };
/** The twin, which is always suspended and has never run. */
const twin: Series = {
  'kube_cronjob_created{namespace="datahub", cronjob="dh-datahub-retention-manual"}': () => 0,
  'kube_cronjob_spec_suspend{namespace="datahub", cronjob="dh-datahub-retention-manual"}': () => 1,
};
const succeeds = (at: (seconds: number) => number | undefined): Series => ({
  [`kube_cronjob_status_last_successful_time{${cronJob}}`]: at,
});
const suspended: Series = { [`kube_cronjob_spec_suspend{${cronJob}}`]: () => 1 };

/** The alerts that fire so many hours after the installation. */
function firing(series: Series, hours: readonly number[]): string[][] {
  const values = ['--set', 'alert.enabled=true', '--values', join(root, 'kubernetes/ci/values.yaml')];
  const options = ['--namespace', 'datahub', '--kube-version', '1.34.0', ...values];
  const text = execFileSync(helm!, ['template', 'dh', join(root, 'kubernetes'), ...options], { encoding: 'utf8' });
  const rule = parseAllDocuments(text)
    .map((each) => each.toJS())
    .find((each) => each?.kind === 'PrometheusRule');
  writeFileSync(join(folder, 'rules.yaml'), JSON.stringify(rule.spec));
  const steps = Array.from({ length: 10 * 24 * 12 }, (_, step) => step * 300);
  const input_series = Object.entries({ ...created, ...running, ...twin, ...series }).map(([name, at]) => ({
    series: name,
    values: steps.map((seconds) => at(seconds) ?? '_').join(' '),
  }));
  const fires = (alertname: string, at: number): boolean => {
    // promtool compares: an alert that is not expected makes it fail.
    const alert_rule_test = [{ eval_time: `${at}h`, alertname, exp_alerts: [] }];
    const tests = [{ interval: '5m', input_series, alert_rule_test }];
    const file = join(folder, 'tests.yaml');
    writeFileSync(file, JSON.stringify({ rule_files: ['rules.yaml'], evaluation_interval: '5m', tests }));
    try {
      execFileSync(evaluator!, ['test', 'rules', file], { encoding: 'utf8', stdio: 'pipe' });
      return false;
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      if (!/alertname: *"?\w+|got:\[/.test(stdout + stderr)) throw error;
      return true;
    }
  };
  const names: string[] = rule.spec.groups[0].rules.map(({ alert }: { alert: string }) => alert);
  return hours.map((at) => names.filter((name) => fires(name, at)));
}

const notSuccessful = 'DatahubRetentionNotSuccessful';
const isSuspended = 'DatahubRetentionSuspended';

describe.skipIf(helm === undefined || evaluator === undefined)('The alerts', () => {
  test('are silent after an installation, and fire if no run ends well within 26 hours', () => {
    expect(firing({}, [1, 25, 27])).toEqual([[], [], [notSuccessful]]);
  });

  test('are silent while each night ends well', () => {
    const nightly = (seconds: number) =>
      seconds < 4 * hour ? undefined : seconds - ((seconds - 4 * hour) % (24 * hour));
    expect(firing(succeeds(nightly), [3, 27, 51, 200])).toEqual([[], [], [], []]);
  });

  test('fire when a night is missed, and no longer after the next one', () => {
    const missed = (seconds: number) => (seconds < 4 * hour ? undefined : seconds < 52 * hour ? 4 * hour : 52 * hour);
    expect(firing(succeeds(missed), [29, 31, 53])).toEqual([[], [notSuccessful], []]);
  });

  test('leave a suspended job alone for seven days, and then say so', () => {
    expect(firing({ ...suspended, ...succeeds(() => 0) }, [40, 167, 169])).toEqual([[], [], [isSuspended]]);
  });
});
