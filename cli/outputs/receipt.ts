import { isObject, parseJson } from '../../lambda/operations/answers/json-value.ts';

/** What the body of a receiver's 2xx says of the message: several chats refuse in there. */
export type Receipt = 'accepted' | 'doubtful' | 'refused';

/**
 * Only what is known to be a refusal counts as one: a message that is taken for refused is posted again every night.
 * Anything else that reads like one is `doubtful`, for a person to look at.
 * @param text the body, or the beginning of a long one
 */
export function receiptOf(text: string, contentType: string | undefined): Receipt {
  if (/^text\/html\b/i.test(contentType ?? '') || /^\s*<(?:!doctype html|html|head|body)\b/i.test(text)) {
    return 'refused';
  }
  // Teams' incoming webhooks wrap every failure in a 200.
  if (/\bmessage delivery failed with error\b/i.test(text)) return 'refused';
  const json = parseJson(text);
  if (!isObject(json)) return refusing.test(text) ? 'doubtful' : 'accepted';
  if (isRefusal(json)) return 'refused';
  return looksRefused(json) ? 'doubtful' : 'accepted';
}

const refusing = /^\W{0,3}(error|fail|invalid|denied|refused|rejected|forbidden|unauthori[sz]ed|not[ _]|no[ _])/i;

/** Slack's `ok`, DingTalk's and WeCom's `errcode`, Feishu's and Lark's `code` beside a `msg`. */
function isRefusal({ ok, errcode, code, msg }: Record<string, unknown>): boolean {
  if (ok === false) return true;
  if (isSet(errcode)) return true;
  // Many services of a house say {"code": 200, "msg": "success"}.
  return typeof msg === 'string' && isSet(code) && !isSuccess(code);
}

function looksRefused({
  code,
  success,
  status,
  result,
  state,
  error,
  errors,
  StatusCode,
}: Record<string, unknown>): boolean {
  if (isSet(code) && !isSuccess(code)) return true;
  if (isSet(StatusCode) && !isSuccess(StatusCode)) return true;
  if (success === false || [error, errors].some(isSet)) return true;
  return [status, result, state].some((word) => typeof word === 'string' && refusing.test(word));
}

/** Neither absent nor empty nor zero. */
const isSet = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length > 0
    : !/^(|undefined|null|false|0)$/.test(String(value).trim());

const isSuccess = (code: unknown): boolean => /^(2\d\d|ok|success)$/i.test(String(code));
