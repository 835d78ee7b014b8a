import { isObject, parseJson } from '../../lambda/gms/responses/json-value.ts';

/** What the body of a 2xx says about the message: several chats put their refusal there. */
type Receipt = 'accepted' | 'doubtful' | 'refused';

/**
 * Only a known form of refusal counts as one, because a refused message is posted again every night. Anything else
 * that reads like a refusal is `doubtful`: the message counts as posted, and the run says that a person should look.
 * @param text the body, or the beginning of a long one
 */
export function receiptOf(text: string, contentType: string | undefined): Receipt {
  if (isPage(text, contentType)) return 'refused';
  // Teams' incoming webhooks wrap every failure in a 200.
  if (/\bmessage delivery failed with error\b/i.test(text)) return 'refused';
  if (/^\s*<\?xml/i.test(text)) return refusingXml.test(text) ? 'doubtful' : 'accepted';
  const answers = [parseJson(text)].flat().filter(isObject).map(byName);
  if (answers.length === 0) return refusing.test(text) ? 'doubtful' : 'accepted';
  if (answers.some(isRefusal)) return 'refused';
  const inner = answers.flatMap((answer) => [...answer.values()].flat().filter(isObject).map(byName));
  return [...answers, ...inner].some(looksRefused) || inner.some(isRefusal) ? 'doubtful' : 'accepted';
}

/** Slack says that its "ok" is HTML, so the type alone shows nothing. */
const isPage = (text: string, contentType = ''): boolean =>
  /^\s*<(?:!doctype html|html|head|body|!--)/i.test(text) || (/^text\/html\b/i.test(contentType) && /^\s*</.test(text));

const refusing =
  /^\W{0,3}(err(?:or|\b)|false\b|fail|invalid|denied|refused|rejected|ignored|forbidden|unauthori[sz]ed|missing|unknown|unable|cannot|not[ _]|no[ _](?!errors?\b))/i;

/** An element about an error that holds something, or has attributes. */
const refusingXml = /<(?:\w+:)?(?:err|fault)\w*(?:\s+\w|>\s*(?!(?:0+|ok|none|success)?\s*<\/))/i;

/** Values by name: `error_code`, `errorCode` and `ErrorCode` are one. */
type Answer = Map<string, unknown>;
const byName = (answer: object): Answer =>
  new Map(Object.entries(answer).map(([name, value]) => [name.replaceAll(/[_-]/g, '').toLowerCase(), value]));

/** What says yes or no, whatever it is in: `true`, `"true"`, `1`. */
const flags = ['ok', 'success', 'succeeded', 'successful', 'issuccess'];
/** Zero where nothing went wrong. Many in-house services have 200 instead. */
const errorCodes = ['errcode', 'errorcode', 'errno', 'ret', 'retcode', 'returncode', 'resultcode', 'res'];
const statuses = ['status', 'result', 'state'];
const texts = ['msg', 'message', 'errmsg', 'statusmessage', 'reason'];

/**
 * Slack's `ok`, a `success` of many, the error codes of DingTalk, WeCom, Tencent and others, Feishu's and Lark's `code`
 * beside a `msg`.
 */
function isRefusal(said: Answer): boolean {
  if (flags.some((name) => /^(?:false|0|no)$/i.test(String(said.get(name))))) return true;
  // Some count from 1, or have 20000 where nothing went wrong: then the text beside it says so.
  if (texts.some((name) => accepting.test(String(said.get(name))))) return false;
  return (
    errorCodes.some((name) => isError(said.get(name))) ||
    (typeof said.get('msg') === 'string' && isError(said.get('code')))
  );
}

const accepting = /^\W*(?:ok|success\w*)\W*$/i;

function looksRefused(said: Answer): boolean {
  if (['code', 'statuscode', ...errorCodes].some((name) => isError(said.get(name)))) return true;
  if ([...said].some(([name, value]) => /^(?:is|has)?(?:error|fail|fault|reject)/.test(name) && namesError(value)))
    return true;
  if (['accepted', 'delivered', 'sent'].some((name) => said.get(name) === false)) return true;
  const status = statuses.map((name) => said.get(name));
  if (status.some((one) => refusing.test(String(one)) || Number(one) >= 400 || Number(one) < 0)) return true;
  // 0 is a success of some and a failure of others, and so is 1: the text beside it says which.
  const isSmall = status.some((one) => typeof one === 'number' && one < 100);
  return isSmall && texts.some((name) => refusing.test(String(said.get(name) ?? '')));
}

/** Neither absent nor empty nor zero. */
const isSet = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length > 0
    : !/^(|undefined|null|false|0+)$/.test(String(value).trim());

/** Of an error by its name: `true` says that there is one. */
const namesError = (error: unknown): boolean => isError(error) || /^true$/i.test(String(error));

const isError = (code: unknown): boolean => isSet(code) && !/^(?:2\d\d|ok|success|true)$/i.test(String(code));
