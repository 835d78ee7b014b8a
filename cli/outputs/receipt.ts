import { isObject, parseJson } from '../../lambda/gms/responses/json-value.ts';

/** What the body of a 2xx says about the message: several chats put their refusal there. */
export type Receipt = 'accepted' | 'doubtful' | 'refused';

/**
 * Only a known form of refusal counts as one, because a refused message is posted again every night. Anything else
 * that reads like a refusal is `doubtful`, for a person to check.
 * @param text the body, or the beginning of a long one
 */
export function receiptOf(text: string, contentType: string | undefined): Receipt {
  if (isPage(text, contentType)) return 'refused';
  // Teams' incoming webhooks wrap every failure in a 200.
  if (/\bmessage delivery failed with error\b/i.test(text)) return 'refused';
  const answers = [parseJson(text)].flat().filter(isObject);
  if (answers.length === 0) return refusing.test(text) ? 'doubtful' : 'accepted';
  if (answers.some(isRefusal)) return 'refused';
  const inner = answers.flatMap(Object.values<unknown>).filter(isObject);
  return answers.some(looksRefused) || inner.some(isRefusal) ? 'doubtful' : 'accepted';
}

/** Slack says that its "ok" is HTML, so the type alone shows nothing. */
const isPage = (text: string, contentType = ''): boolean =>
  /^\s*<(?:!doctype html|html|head|body|\?xml|!--)/i.test(text) ||
  (/^text\/html\b/i.test(contentType) && /^\s*</.test(text));

const refusing =
  /^\W{0,3}(error|false\b|fail|invalid|denied|refused|rejected|forbidden|unauthori[sz]ed|not[ _]|no[ _])/i;

/** Slack's `ok`, a `success` of many, DingTalk's and WeCom's `errcode`, Feishu's and Lark's `code` beside a `msg`. */
function isRefusal({ ok, success, errcode, code, msg }: Record<string, unknown>): boolean {
  if ([ok, success].some((word) => String(word) === 'false')) return true;
  if (isSet(errcode)) return true;
  // Many in-house services say {"code": 200, "msg": "success"}.
  return typeof msg === 'string' && isSet(code) && !isSuccess(code);
}

function looksRefused(said: Record<string, unknown>): boolean {
  const codes = [said['code'], said['StatusCode'], said['statusCode'], said['status_code']];
  if (codes.some((code) => isSet(code) && !isSuccess(code))) return true;
  if (['error', 'errors', 'errorMessage'].some((name) => isSet(said[name]))) return true;
  return ['status', 'result', 'state'].some((name) => refusing.test(String(said[name])) || Number(said[name]) >= 400);
}

/** Neither absent nor empty nor zero. */
const isSet = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length > 0
    : !/^(|undefined|null|false|0)$/.test(String(value).trim());

const isSuccess = (code: unknown): boolean => /^(2\d\d|ok|success)$/i.test(String(code));
