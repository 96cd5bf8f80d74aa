import { beforeAll, describe, expect, it } from '@jest/globals';
import { bearer, bodyOf, get, MESSAGES, post } from '../support/client.js';
import { expectError } from '../support/expectations.js';
import type { RawResponse } from '../support/raw-http.js';
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
  it('with the queued message, its properties in this order, and nothing else that was sent, at an absolute Location', async () => {
    const others = { id: 'msg_mine', status: 'sent', createdAt: 'x', accountId: 1, text: 'y' };
    const response = await post(api, MESSAGES, { ...others, message: 'Is Luna still there?' });
    const { id, createdAt } = messageOf(response, 202);
    expect(response.body).toBe(
      `{"id":"${id}","message":"Is Luna still there?","status":"queued","createdAt":"${createdAt}"}`,
    );
    expect(id).not.toBe('msg_mine');
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

  it("answers 200 to each of the account's keys, and 404 not_found to another account", async () => {
    expect(messageOf(await get(api, `${MESSAGES}/${message.id}`, keys[1]))).toEqual(message);
    expectError(await get(api, `${MESSAGES}/${message.id}`), 404, 'not_found');
  });

  it('answers 404 not_found to what is not, byte for byte, the id of a message', async () => {
    const others = [
      'msg_000000000000000000000000',
      '',
      'msg_%25%25',
      "msg_'%20OR%20'1'='1",
      `msg_${'x'.repeat(8_000)}`,
    ];
    const { id } = message;
    for (const each of [...others, id.slice(0, -1), id.toUpperCase(), `${id}%00`])
      expectError(await get(api, `${MESSAGES}/${each}`, keys[0]), 404, 'not_found');
  });
});
