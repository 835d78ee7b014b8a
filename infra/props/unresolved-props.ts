import { Lazy, Token } from 'aws-cdk-lib';
import { Unresolved } from '../../lambda/settings/unresolved.ts';

/** What `valueFromLookup` returns until the CDK has asked AWS, as its page tells apps: an error would keep it from asking. */
const notLookedUp = 'dummy-value-for-';

/** The props, or a part of them, with each value marked that is known only at deployment, or after a lookup. */
export function marked<Value>(value: Value): Value | Unresolved {
  if (Token.isUnresolved(value)) return new Unresolved(value);
  if (typeof value === 'string' && value.includes(notLookedUp)) {
    return new Unresolved(Lazy.string({ produce: () => value }));
  }
  return mapped(value, marked);
}

/** The same as CloudFormation takes it: tokens are encoded as texts, numbers and lists. */
export const encoded = <Value>(value: Value): Encoded<Value> =>
  (value instanceof Unresolved ? value.token : mapped(value, encoded)) as Encoded<Value>;

type Encoded<Value> = Value extends Unresolved
  ? never
  : Value extends readonly (infer Item)[]
    ? Encoded<Item>[]
    : Value extends object
      ? { [Name in keyof Value]: Encoded<Value[Name]> }
      : Value;

function mapped<Value>(value: Value, map: (part: unknown) => unknown): Value {
  if (Array.isArray(value)) return value.map(map) as Value;
  // An object of the CDK in the place of a setting has circles.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, map(part)])) as Value;
}
