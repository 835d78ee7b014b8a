import { expect, test } from 'vitest';
import { receiptOf } from '../../../cli/outputs/receipt.ts';

/** What real products answer with a 2xx, by their documentation. A refusal that is not one for certain is doubtful. */

test.each<[who: string, receipt: string, answer: string, type?: string]>([
  ['Splunk HEC', 'accepted', '{"text":"Success","code":0}'],
  ['Zulip error', 'refused', '{"result":"error","msg":"Invalid API key","code":"INVALID_API_KEY"}'],
  ['Aliyun', 'accepted', '{"Message":"OK","RequestId":"F655","Code":"OK"}'],
  ['Aliyun error', 'doubtful', '{"Message":"frequency","RequestId":"F655","Code":"isv.BUSINESS_LIMIT_CONTROL"}'],
  ['pushplus', 'accepted', '{"code":200,"msg":"\u8bf7\u6c42\u6210\u529f","data":"5565f8"}'],
  ['pushplus limited', 'refused', '{"code":900,"msg":"\u7528\u6237\u8d26\u53f7\u4f7f\u7528\u53d7\u9650","data":null}'],
  ['ServerChan', 'accepted', '{"code":0,"message":"","data":{"pushid":"1","readkey":"x","error":"SUCCESS","errno":0}}'],
  ['Vonage error', 'doubtful', '{"message-count":"1","messages":[{"status":"4","error-text":"Bad Credentials"}]}'],
  ['FCM', 'accepted', '{"multicast_id":1,"success":1,"failure":0,"canonical_ids":0,"results":[{"message_id":"0:1"}]}'],
  [
    'ServiceNow import set ignored',
    'doubtful',
    '{"import_set":"ISET1","staging_table":"u","result":[{"transform_map":"m","table":"incident","status":"ignored"}]}',
  ],
  ['OneSignal', 'doubtful', '{"id":"","errors":["All included players are not subscribed"]}'],
  ['Clickatell text', 'doubtful', 'ERR: 001, Authentication failed'],
  [
    'XML with an error in attributes',
    'doubtful',
    '<?xml version="1.0"?><rsp stat="fail"><err code="100" msg="Invalid API Key"/></rsp>',
  ],
  ['XML with a code', 'doubtful', '<?xml version="1.0"?><response><ErrorCode>5</ErrorCode></response>'],
  ['XML with the code 0', 'accepted', '<?xml version="1.0"?><response><errorCode>0</errorCode><errors/></response>'],
  ['a service that says what came of it', 'doubtful', '{"delivered":false}'],
  ['a service that answers yes to an error', 'doubtful', '{"error":true,"info":"no such channel"}'],
  ['a service that answers yes to whether there is one', 'doubtful', '{"isError":true,"info":"no such channel"}'],
  ['a service without errors', 'accepted', '{"status":"no errors"}'],
  ['a mail relay', 'doubtful', '{"accepted":[],"rejected":["a@b"],"response":"550"}'],
  ['Apigee', 'doubtful', '{"fault":{"faultstring":"x","detail":{"errorcode":"y"}}}'],
  ['a word', 'doubtful', 'no_team'],
  ['JSON that is a word', 'doubtful', 'false'],
  ['a status', 'doubtful', '{"status":"error"}'],
  ['a code beside a message', 'doubtful', '{"code":4003,"message":"x"}'],
  ['a status of HTTP', 'doubtful', '{"statusCode":500}'],
  ['a short one', 'doubtful', '{"status":404}'],
  ['a negative one', 'doubtful', '{"status":-1}'],
  ['the status 0 beside a refusal', 'doubtful', '{"status":0,"msg":"invalid key"}'],
  ['a refusal further in', 'doubtful', '{"result":{"ok":false}}'],
  // Others count from 1, or have 20000 where nothing went wrong; their text says so.
  ['the code 1', 'doubtful', '{"code":1,"msg":"success"}'],
  ['the code 20000', 'doubtful', '{"code":20000,"msg":"OK"}'],
  ['a return of 1', 'doubtful', '{"ret":1,"message":"Successful"}'],
  ['nothing', 'accepted', ''],
  ['Slack', 'accepted', 'ok', 'text/html'],
  ['JSON that is called HTML', 'accepted', '{"ok":true}', 'text/html'],
  ['Feishu', 'accepted', '{"StatusCode":0,"StatusMessage":"success","code":0,"data":{},"msg":"success"}'],
  ['the code 200', 'accepted', '{"code":200,"msg":"success"}'],
  ['no errors', 'accepted', '{"id":"9","type":0,"errors":[],"error":null}'],
  ['every code of success', 'accepted', '{"success":1,"ret":0,"retcode":"0","res":200,"error_code":0}'],
  ['the status 0', 'accepted', '{"status":0,"msg":"success"}'],
  ['ntfy', 'accepted', '{"id":"x","time":1,"event":"message","topic":"t","message":"failed: dataset.operation"}'],
])('%s: %s', (_, receipt, answer, type = 'application/json') => {
  expect(receiptOf(answer, type)).toBe(receipt);
});
