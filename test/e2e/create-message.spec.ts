import { MINUTE } from '@adoption-store/domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api.js';
import { expectError, expectLimitHeaders, JSON_CONTENT_TYPE } from '../support/expectations.js';
import { messageOf, MESSAGES, postMessage, writeMessage } from '../support/messages-client.js';
import { bearer, get } from '../support/pets-client.js';
import { request } from '../support/raw-http.js';

const HELLO = '{"message":"Is Luna still there?"}';

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

const queued = async () => (await api.application.deliverMessages.backlog()).queued;

describe('POST /v1/messages answers 202', () => {
  it('with the queued message, its properties in this order, and nothing else', async () => {
    const now = new Date(api.clock.now()).toISOString();
    const response = await postMessage(api, HELLO);
    const { id } = messageOf(response, 202);
    expect(id).toMatch(/^msg_[0-9A-Za-z]{24}$/);
    expect(response.headers['content-type']).toBe(JSON_CONTENT_TYPE);
    expect(response.body).toBe(
      `{"id":"${id}","message":"Is Luna still there?","status":"queued","createdAt":"${now}"}`,
    );
  });

  it('with an absolute Location that leads to the message', async () => {
    const response = await postMessage(api, HELLO);
    const { id } = messageOf(response, 202);
    expect(response.headers['location']).toBe(`${api.origin}${MESSAGES}/${id}`);
    expect(await get(api, `${MESSAGES}/${id}`)).toMatchObject({ status: 200, body: response.body });
  });

  it('with different ids for equal messages sent at once', async () => {
    const before = await queued();
    const responses = await Promise.all(Array.from({ length: 20 }, () => postMessage(api, HELLO)));
    expect(new Set(responses.map((response) => messageOf(response, 202).id)).size).toBe(20);
    expect(await queued()).toBe(before + 20);
  });

  it.each([
    ['one character', 'x'],
    ['4,096 characters', 'x'.repeat(4_096)],
    ['4,096 characters beyond the basic plane', '🐈'.repeat(4_096)],
    ['a space', ' '],
    ['line ends', 'Hello,\r\n\r\nis Luna there?\n'],
    ['white space at both ends', '  Luna\t'],
    ['a byte-order mark', '\ufeff'],
    ['control characters', '\u0001\u001f\u007f'],
    ['decomposed letters', 'Zoe\u0308'],
    ['right-to-left script', 'קטה'],
    ['what looks like a header', 'x\r\nBcc: everybody@example.com'],
    ['what ends a mail', 'x\r\n.\r\nMAIL FROM:<x>'],
    ['what looks like SQL', "'); DROP TABLE messages; --"],
    ['what looks like markup', '<script>alert(1)</script>'],
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

  it('and queues it for delivery from the account’s address', async () => {
    const { account, key } = await api.openKey();
    const { id } = messageOf(await writeMessage(api, 'Hello', key), 202);
    while ((await api.application.deliverMessages.execute()).mayHaveMore);
    const delivered = api.messageSender.delivered.filter((message) => message.id === id);
    expect(delivered).toMatchObject([{ text: 'Hello', from: account.email, accountId: account.id }]);
  });
});

describe('POST /v1/messages answers 400', () => {
  it.each([
    ['is missing', '{}'],
    ['is only called so in another case', '{"Message":"x"}'],
    ['is null', '{"message":null}'],
    ['is a number', '{"message":1}'],
    ['is a great integer', '{"message":9223372036854775807}'],
    ['is a boolean', '{"message":true}'],
    ['is an array', '{"message":["x"]}'],
    ['is an object', '{"message":{"length":1}}'],
    ['is empty', '{"message":""}'],
    ['has 4,097 characters', JSON.stringify({ message: 'x'.repeat(4_097) })],
    ['has 4,097 characters beyond the basic plane', JSON.stringify({ message: '🐈'.repeat(4_097) })],
    ['has 60,000 characters', JSON.stringify({ message: 'x'.repeat(60_000) })],
  ])('invalid_parameter where message %s', async (_case, body) => {
    const before = await queued();
    expect(expectError(await postMessage(api, body), 400, 'invalid_parameter')).toMatch(/^message\b/);
    expect(await queued()).toBe(before);
  });

  it.each([
    ['is empty', ''],
    ['is cut short', '{"message":"x'],
    ['is a string', '"x"'],
    ['is an array', '[{"message":"x"}]'],
    ['has message twice', '{"message":"x","message":"y"}'],
    ['has __proto__', '{"__proto__":{"message":"x"}}'],
    ['has U+0000 in message', String.raw`{"message":"a\u0000b"}`],
    ['has a lone surrogate in message', String.raw`{"message":"\ud83d"}`],
    ['has a line feed in message that is not escaped', '{"message":"a\nb"}'],
    ['is not UTF-8', Buffer.from('{"message":"é"}', 'latin1')],
  ])('invalid_json where the body %s', async (_case, body) => {
    expectError(await postMessage(api, body), 400, 'invalid_json');
  });

  it.each([
    ['without a Content-Type', {}],
    ['as text', { 'Content-Type': 'text/plain' }],
    ['in another charset', { 'Content-Type': 'application/json; charset=latin1' }],
    ['with a Content-Encoding', { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }],
  ])('unsupported_media_type to a body %s', async (_case, headers) => {
    expectError(await postMessage(api, HELLO, headers), 400, 'unsupported_media_type');
  });
});

describe('POST /v1/messages answers', () => {
  it('401 to no key before it looks at the body', async () => {
    expectError(await request(api, MESSAGES, { method: 'POST', body: '{' }), 401, 'missing_api_key');
  });

  it('413 to a body over 64 KiB', async () => {
    expectError(await writeMessage(api, 'x'.repeat(65_536)), 413, 'payload_too_large');
  });

  it('429 over the limit, and queues nothing', async () => {
    const { key } = await api.openKey('free');
    for (let sent = 0; sent < 60; sent += 1) await request(api, '/v1/pets', { headers: bearer(key) });
    const before = await queued();
    expectError(await writeMessage(api, 'x', key), 429, 'rate_limited');
    expect(await queued()).toBe(before);
  });

  it("with the limits, spends one request of the quota, and keeps the client's X-Request-Id", async () => {
    const { key } = await api.openKey('free');
    const headers = { ...bearer(key), 'Content-Type': 'application/json', 'X-Request-Id': 'Order_66-b' };
    const response = await request(api, MESSAGES, { method: 'POST', headers, body: HELLO });
    expect(response).toMatchObject({ status: 202, headers: { 'x-request-id': 'Order_66-b' } });
    expectLimitHeaders(response);
    expect(response.headers['x-ratelimit-remaining']).toBe('59');
  });
});
