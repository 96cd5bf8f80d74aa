import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectError, expectHeadError, expectLimitHeaders, JSON_CONTENT_TYPE } from '../support/expectations.js';
import { bearer, get } from '../support/pets-client.js';
import { request } from '../support/raw-http.js';
import { openKeys, useSharedApi } from '../support/shared-api.js';
import { type Message, messageOf, MESSAGES, postMessage, writeMessage } from '../support/store-client.js';

const HELLO = '{"message":"Is Luna still there?"}';

const api = useSharedApi();

describe('POST /v1/messages answers 202', () => {
  it('with the queued message, its properties in this order, and nothing else, at an absolute Location', async () => {
    const response = await postMessage(api, HELLO);
    const { id, createdAt } = messageOf(response, 202);
    expect(id).toMatch(/^msg_[0-9A-Za-z]{24}$/);
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(response.body).toBe(
      `{"id":"${id}","message":"Is Luna still there?","status":"queued","createdAt":"${createdAt}"}`,
    );
    expect(response.headers).toMatchObject({
      'content-type': JSON_CONTENT_TYPE,
      location: `${api.origin}${MESSAGES}/${id}`,
    });
    expectLimitHeaders(response);
    expect(await get(api, `${MESSAGES}/${id}`)).toMatchObject({ status: 200, body: response.body });
  });

  it('with different ids for equal messages sent at once', async () => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => postMessage(api, HELLO)));
    expect(new Set(responses.map((response) => messageOf(response, 202).id)).size).toBe(10);
  });

  it.each([
    ['one character', 'x'],
    ['4,096 characters beyond the basic plane', '🐈'.repeat(4_096)],
    ['white space', ' \t'],
    ['line ends', 'Hello,\r\n\r\nis Luna there?\n'],
    ['a byte-order mark and control characters', '\ufeff\u0001\u001f\u007f'],
    ['decomposed letters and right-to-left script', 'Zoe\u0308 קטה'],
    ['what looks like a header', 'x\r\nBcc: everybody@example.com'],
    ['what ends a mail', 'x\r\n.\r\nMAIL FROM:<x>'],
    ['what looks like SQL', "'); DROP TABLE messages; --"],
    ['what looks like an escape', '\\u0000'],
  ])('with exactly the sent text: %s', async (_case, text) => {
    const { id, message } = messageOf(await writeMessage(api, text), 202);
    expect(message).toBe(text);
    expect(messageOf(await get(api, `${MESSAGES}/${id}`)).message).toBe(text);
  });

  it('and ignores unknown properties, including an id and a status', async () => {
    const body = '{"id":"msg_mine","status":"sent","createdAt":"x","accountId":1,"text":"y","message":"x"}';
    const message = messageOf(await postMessage(api, body), 202);
    expect(message).toMatchObject({ message: 'x', status: 'queued' });
    expect(message.id).not.toBe('msg_mine');
  });
});

describe('POST /v1/messages answers', () => {
  it.each([
    ['is missing', '{"Message":"x"}'],
    ['is null', '{"message":null}'],
    ['is a great integer', '{"message":9223372036854775807}'],
    ['is an array', '{"message":["x"]}'],
    ['is an object', '{"message":{"length":1}}'],
    ['is empty', '{"message":""}'],
    ['has 4,097 characters', JSON.stringify({ message: 'x'.repeat(4_097) })],
    ['has 4,097 characters beyond the basic plane', JSON.stringify({ message: '🐈'.repeat(4_097) })],
  ])('400 invalid_parameter where message %s', async (_case, body) => {
    expect(expectError(await postMessage(api, body), 400, 'invalid_parameter')).toMatch(/^message\b/);
  });

  it('400 to what is no object of JSON or another media type, 413 and 401', async () => {
    for (const body of ['', '"x"', `[${HELLO}]`, '{"message":"x","message":"y"}', String.raw`{"message":"a\u0000b"}`])
      expectError(await postMessage(api, body), 400, 'invalid_json');
    expectError(await postMessage(api, HELLO, {}), 400, 'unsupported_media_type');
    expectError(await postMessage(api, HELLO, { 'Content-Type': 'text/plain' }), 400, 'unsupported_media_type');
    expectError(await writeMessage(api, 'x'.repeat(65_536)), 413, 'payload_too_large');
    expectError(await request(api, MESSAGES, { method: 'POST', body: '{' }), 401, 'missing_api_key');
  });
});

describe('GET /v1/messages/{messageId}', () => {
  let keys: readonly [string, string];
  let message: Message;

  beforeAll(async () => {
    keys = await openKeys();
    message = messageOf(await writeMessage(api, 'Hello', keys[0]), 202);
  });

  it("answers 200 to each of the account's keys, and to HEAD without the body", async () => {
    const path = `${MESSAGES}/${message.id}`;
    const response = await get(api, path, keys[1]);
    expect(messageOf(response)).toEqual(message);
    expectLimitHeaders(response);
    const head = await request(api, path, { method: 'HEAD', headers: bearer(keys[0]) });
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers['content-length']).toBe(String(response.body.length));
  });

  it("answers 404 not_found to another account's message", async () => {
    expectError(await get(api, `${MESSAGES}/${message.id}`), 404, 'not_found');
  });

  it.each([
    ['that is unknown', () => 'msg_000000000000000000000000'],
    ['that is empty', () => ''],
    ['without its prefix', () => message.id.slice(4)],
    ['that is cut short', () => message.id.slice(0, -1)],
    ['with a character behind', () => `${message.id}0`],
    ['in another case', () => message.id.toUpperCase()],
    ['with a line feed behind', () => `${message.id}%0A`],
    ['with U+0000 behind', () => `${message.id}%00`],
    ['of an emoji', () => '%F0%9F%90%88'],
    ['of 8,000 characters', () => `msg_${'x'.repeat(8_000)}`],
    ['of digits', () => '1'],
    ['with an encoded slash', () => 'msg_%2F'],
    ['with a wildcard', () => 'msg_%25%25'],
    ['of a placeholder', () => ':messageId'],
    ['of __proto__', () => '__proto__'],
    ['of SQL', () => "msg_'%20OR%20'1'='1"],
    ['of a noncharacter', () => 'msg_%EF%BF%BF'],
  ])('answers 404 not_found to a messageId %s, and 401 to no key', async (_case, id) => {
    const path = `${MESSAGES}/${id()}`;
    expectError(await get(api, path, keys[0]), 404, 'not_found');
    expectHeadError(await request(api, path, { method: 'HEAD', headers: bearer(keys[0]) }), 404);
    expectError(await request(api, path), 401, 'missing_api_key');
  });
});
