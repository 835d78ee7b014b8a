export function whyNotStarted(): string | undefined;
