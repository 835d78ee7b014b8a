/** `1,234,567`: counts in sentences for people; the same on every machine, whatever its locale. */
export const grouped = (value: number): string => value.toLocaleString('en-US');
