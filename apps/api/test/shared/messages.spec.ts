import { beforeAll, describe, expect, it } from '@jest/globals';
import { bearer, bodyOf, get, MESSAGES, post } from '../support/client.js';
import { expectError } from '../support/expectations.js';
import { type RawResponse, request } from '../support/raw-http.js';
import { openKeys, useSharedApi } from '../support/shared-api.js';

interface Message {
  readonly id: string;
  readonly message: string;
  readonly status: string;
  readonly createdAt: string;
}

const api = useSharedApi();
const messageOf = (response: RawResponse, status?: number) => bodyOf(response, status) as Message;

describe('POST /v1/messages answers 202', () => {
  it('with the queued message, its properties in this order, and nothing else, at an absolute Location', async () => {
    const response = await post(api, MESSAGES, { message: 'Is Luna still there?' });
    const { id, createdAt } = messageOf(response, 202);
    expect(response.body).toBe(
      `{"id":"${id}","message":"Is Luna still there?","status":"queued","createdAt":"${createdAt}"}`,
    );
    const location = `${api.origin}${MESSAGES}/${id}`;
    expect(response.headers).toMatchObject({ location });
    expect(await get(api, `${MESSAGES}/${id}`)).toMatchObject({ status: 200, body: response.body });
  });

  it.each([
    ['4,096 characters beyond the basic plane', '🐈'.repeat(4_096)],
    ['a byte-order mark and control characters', '\ufeff\u0001\u001f\u007f'],
    ['what ends a mail', 'x\r\n.\r\nMAIL FROM:<x>'],
    ['what looks like SQL and an escape', "'); DROP TABLE messages; -- \\u0000"],
  ])('with exactly the sent text: %s', async (_case, text) => {
    const { id, message } = messageOf(await post(api, MESSAGES, { message: text }), 202);
    expect(message).toBe(text);
    expect(messageOf(await get(api, `${MESSAGES}/${id}`)).message).toBe(text);
  });

  it('and ignores unknown properties, including an id and a status', async () => {
    const body = { id: 'msg_mine', status: 'sent', createdAt: 'x', accountId: 1, text: 'y', message: 'x' };
    const message = messageOf(await post(api, MESSAGES, body), 202);
    expect(message).toMatchObject({ message: 'x', status: 'queued' });
    expect(message.id).not.toBe('msg_mine');
  });
});

it.each([
  ['is missing', '{"Message":"x"}'],
  ['is empty', '{"message":""}'],
  ['has 4,097 characters beyond the basic plane', JSON.stringify({ message: '🐈'.repeat(4_097) })],
])('POST /v1/messages answers 400 invalid_parameter where message %s', async (_case, body) => {
  expect(expectError(await post(api, MESSAGES, body), 400, 'invalid_parameter')).toMatch(/^message\b/);
});

describe('GET /v1/messages/{messageId}', () => {
  let keys: readonly [string, string];
  let message: Message;

  beforeAll(async () => {
    keys = await openKeys();
    message = messageOf(await post(api, MESSAGES, { message: 'Hello' }, bearer(keys[0])), 202);
  });

  it("answers 200 to each of the account's keys, and to HEAD without the body", async () => {
    const path = `${MESSAGES}/${message.id}`;
    const response = await get(api, path, keys[1]);
    expect(messageOf(response)).toEqual(message);
    const head = await request(api, path, { method: 'HEAD', headers: bearer(keys[0]) });
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers['content-length']).toBe(String(response.body.length));
  });

  it("answers 404 not_found to another account's message", async () => {
    expectError(await get(api, `${MESSAGES}/${message.id}`), 404, 'not_found');
  });

  it.each(['msg_000000000000000000000000', '', 'msg_%25%25', "msg_'%20OR%20'1'='1", `msg_${'x'.repeat(8_000)}`])(
    'answers 404 not_found to the messageId %s',
    async (id) => {
      expectError(await get(api, `${MESSAGES}/${id}`, keys[0]), 404, 'not_found');
    },
  );

  it.each([
    ['cut short', () => message.id.slice(0, -1)],
    ['in another case', () => message.id.toUpperCase()],
    ['with U+0000 behind', () => `${message.id}%00`],
  ])('answers 404 not_found to its messageId %s', async (_case, id) => {
    expectError(await get(api, `${MESSAGES}/${id()}`, keys[0]), 404, 'not_found');
  });
});
