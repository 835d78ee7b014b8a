import { Lazy, Token } from 'aws-cdk-lib';
import { UnresolvedValue } from '../../lambda/settings/unresolved.ts';

/**
 * What `valueFromLookup` and a load balancer's `fromLookup` return until the CDK has asked AWS: an error would keep it
 * from asking.
 */
const notLookedUp = /dummy-value-for-|\bmy-load-balancer-123456789012\./;

/**
 * The props, or a part of them, with each value marked that is known only at deployment, or after a lookup.
 * @param notANumber hears of NaN, which Number() makes of such a value, too
 */
export function marked<Value>(value: Value, notANumber: (field: string) => void): Marked<Value> {
  return mark(value, []) as Marked<Value>;

  function mark(part: unknown, path: string[]): unknown {
    if (Token.isUnresolved(part)) return new UnresolvedValue(part);
    if (typeof part === 'string' && notLookedUp.test(part))
      return new UnresolvedValue(Lazy.string({ produce: () => part }));
    if (!Number.isNaN(part)) return mapped(part, (each, name) => mark(each, [...path, name]));
    notANumber(path.join('.'));
    // Nothing accepts it, should it be deployed in spite of the error.
    return new UnresolvedValue(Lazy.number({ produce: () => -1 }));
  }
}

type Marked<Value> = { [Name in keyof Value]: Value[Name] | UnresolvedValue };

/** The same as CloudFormation takes it: tokens are encoded as texts, numbers and lists. */
export const encoded = <Value>(value: Value): Encoded<Value> =>
  (value instanceof UnresolvedValue ? value.token : mapped(value, (part) => encoded(part))) as Encoded<Value>;

type Encoded<Value> = Value extends UnresolvedValue
  ? never
  : Value extends readonly (infer Item)[]
    ? Encoded<Item>[]
    : Value extends object
      ? { [Name in keyof Value]: Encoded<Value[Name]> }
      : Value;

function mapped<Value>(value: Value, map: (part: unknown, name: string) => unknown): Value {
  if (Array.isArray(value)) return value.map((part, at) => map(part, String(at))) as Value;
  // An object of the CDK in the place of a setting has circles.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, map(part, name)])) as Value;
}
