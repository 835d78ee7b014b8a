/** Names that RFC 2606 and RFC 6761 reserve for examples, and the account of the AWS documentation. */
const exampleHost = /(?:^|[/@.])example\.(?:com|org|net)(?=[:/?#]|$)|\.example(?=[:/?#]|$)/i;
const exampleAccount = /\b(?:111122223333|123456789012)\b/;
/** `<token>`, `YOUR_TOKEN`. */
const placeholderPattern = /^<[^>]*>$|\byour[-_ ](?:token|server|host|company|domain)\b/i;

/**
 * Why a value is only a placeholder: it was copied from an example and not replaced.
 * @returns one sentence without its full stop; undefined for any other value
 */
export function placeholderProblem(text: string): string | undefined {
  const what = exampleHost.test(text)
    ? text.includes('@')
      ? 'mailbox'
      : 'address'
    : exampleAccount.test(text)
      ? 'account'
      : placeholderPattern.test(text)
        ? 'text'
        : undefined;
  return what === undefined ? undefined : `${text} has the ${what} of an example: write your own`;
}
