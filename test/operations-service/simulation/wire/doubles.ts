/** JSON as Java writes it: a double always has a decimal point, and an exponent below 0.001 and from 10,000,000 on. */
export function withDoubles(value: object, doubles: readonly string[]): string {
  const marked = JSON.stringify(value, (key, inner: unknown) =>
    doubles.includes(key) && typeof inner === 'number' ? `#${printed(inner)}#` : inner,
  );
  return marked.replaceAll(/"#([-\d.E]+)#"/g, '$1');
}

function printed(number: number): string {
  const size = Math.abs(number);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) {
    const [digits = '', exponent] = number.toExponential().split('e');
    return `${pointed(digits)}E${Number(exponent)}`;
  }
  return pointed(String(number));
}

const pointed = (digits: string): string => (digits.includes('.') ? digits : `${digits}.0`);
