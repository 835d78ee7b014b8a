import { readFileSync } from 'node:fs';
import validate from 'asl-validator';
import { describe, expect, test } from 'vitest';
import { functionTimeoutSeconds } from '../../lambda/run/deadlines.ts';
import { type Resource, synthesize } from './synthesize.ts';

// biome-ignore lint/suspicious/noExplicitAny: Amazon States Language, checked by its validator
type State = Record<string, any>;

const text = readFileSync(new URL('../../lambda/workflow/retention-workflow.asl.json', import.meta.url), 'utf8');
const { resources } = synthesize();
const [[, machine]] = resources('AWS::StepFunctions::StateMachine') as [[string, Resource]];
const functionIds = resources('AWS::Lambda::Function').map(([id]) => id);
const definition = JSON.parse(
  (machine.Properties.DefinitionString as string).replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const id = machine.Properties.DefinitionSubstitutions[name]['Fn::GetAtt'][0];
    return `arn:aws:lambda:eu-central-1:111122223333:function:${id}`;
  }),
);
const states = Object.entries(definition.States as Record<string, State>);
const calling = (name: string) =>
  states.filter(([, state]) => String(state['Resource']).includes(`:function:Workflow${name}`));

describe('The deployed state machine', () => {
  test('is the workflow file, unchanged', () => {
    expect(JSON.parse(machine.Properties.DefinitionString)).toEqual(JSON.parse(text));
  });

  test('passes the validator', () => {
    const { isValid, errorsText } = validate(definition);
    expect(isValid ? '' : errorsText()).toBe('');
  });

  test('substitutes every placeholder with one of the four functions', () => {
    const placeholders = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(machine.Properties.DefinitionSubstitutions).sort()).toEqual([...new Set(placeholders)].sort());
    for (const value of Object.values<{ 'Fn::GetAtt': string[] }>(machine.Properties.DefinitionSubstitutions)) {
      expect(functionIds).toContain(value['Fn::GetAtt'][0]);
    }
  });

  test('calls truncate in exactly one state, which has a Catch and no Retry', () => {
    const truncating = calling('Truncate');
    expect(truncating).toHaveLength(1);
    const [, state] = truncating[0]!;
    expect(state['Retry']).toBeUndefined();
    expect(state['Catch']).toEqual([expect.objectContaining({ ErrorEquals: ['States.ALL'] })]);
  });

  test('asks for the name of an error alone, because its cause may be missing', () => {
    expect(text).not.toMatch(/\.Cause\b/);
  });

  test.each(['Plan', 'Truncate', 'Poll', 'Report'] as const)(
    'waits for %s longer than the function may run',
    (name) => {
      const [, state] = calling(name)[0]!;
      const seconds = functionTimeoutSeconds[name.toLowerCase() as keyof typeof functionTimeoutSeconds];
      expect(state['TimeoutSeconds']).toBeGreaterThan(seconds);
      const [, { Properties }] = resources('AWS::Lambda::Function').find(([id]) => id.startsWith(`Workflow${name}`))!;
      expect(Properties.Timeout).toBe(seconds);
    },
  );

  test('may run longer than the longest run', () => {
    expect(definition.TimeoutSeconds).toBeGreaterThan((24 + 1) * 3600);
  });

  test('is traced, and logs to a group of vended logs', () => {
    expect(machine.Properties.TracingConfiguration).toEqual({ Enabled: true });
    expect(machine.Properties.LoggingConfiguration.Level).toBe('ALL');
    const groups = resources('AWS::Logs::LogGroup').map(([, { Properties }]) =>
      JSON.stringify(Properties.LogGroupName),
    );
    expect(groups.filter((name) => name?.includes('/aws/vendedlogs/states/'))).toHaveLength(1);
  });

  test('may call its four functions, exactly', () => {
    const policy = resources('AWS::IAM::Policy').find(([, { Properties }]) =>
      Properties.Roles[0].Ref.startsWith('WorkflowRole'),
    )!;
    const invoke = policy[1].Properties.PolicyDocument.Statement.filter(
      ({ Action }: { Action: string | string[] }) => Action === 'lambda:InvokeFunction',
    );
    expect(invoke).toHaveLength(1);
    const callable = invoke[0].Resource.map((arn: { 'Fn::GetAtt': string[] }) => arn['Fn::GetAtt']);
    expect(callable.sort()).toEqual(functionIds.map((id) => [id, 'Arn']).sort());
  });
});
