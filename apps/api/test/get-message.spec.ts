import { DEFAULT_DELIVERY_POLICY, MINUTE } from '@adoption-store/domain';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ask } from '@adoption-store/test-support';
import { useApi } from './support/api.js';
import { expectError, expectHeadError, expectLimitHeaders, JSON_CONTENT_TYPE } from './support/expectations.js';
import { type Message, messageOf, MESSAGES, writeMessage } from './support/messages-client.js';
import { bearer, get } from './support/pets-client.js';
import { request } from './support/raw-http.js';

const api = useApi();
let message: Message;

beforeAll(async () => {
  message = messageOf(await writeMessage(api, 'Is Luna still there?'), 202);
});

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

afterEach(() => {
  api.messageSender.failure = undefined;
});

const statusOf = async ({ id }: Message) => messageOf(await get(api, `${MESSAGES}/${id}`)).status;

/** Attempts each due message once. */
async function deliver(): Promise<void> {
  while ((await api.application.deliverMessages.execute()).mayHaveMore);
}

describe('GET /v1/messages/{messageId} answers 200', () => {
  it('with the message, its properties in this order, and nothing else', async () => {
    const { id, createdAt } = message;
    const response = await get(api, `${MESSAGES}/${id}`);
    expect(response).toMatchObject({ status: 200, headers: { 'content-type': JSON_CONTENT_TYPE } });
    expect(response.body).toBe(
      `{"id":"${id}","message":"Is Luna still there?","status":"queued","createdAt":"${createdAt}"}`,
    );
    expectLimitHeaders(response);
  });

  it('with the status sent once it is delivered, and nothing else changed', async () => {
    const written = messageOf(await writeMessage(api, 'Hello'), 202);
    await deliver();
    expect(messageOf(await get(api, `${MESSAGES}/${written.id}`))).toStrictEqual({ ...written, status: 'sent' });
  });

  it('with the status queued as long as it is tried, and failed after the last attempt', async () => {
    const written = messageOf(await writeMessage(api, 'Hello'), 202);
    api.messageSender.failure = new Error('the mail server is away');
    for (let attempt = 1; attempt <= DEFAULT_DELIVERY_POLICY.attempts; attempt += 1) {
      expect(await statusOf(written)).toBe('queued');
      await deliver();
      // The queue's times are PostgreSQL's.
      await ask(api.databaseUrl, `UPDATE messages SET due_at = now() WHERE status = 'queued'`);
    }
    expect(messageOf(await get(api, `${MESSAGES}/${written.id}`))).toStrictEqual({ ...written, status: 'failed' });
  });

  it("to each of the account's keys", async () => {
    const { account, key } = await api.openKey();
    const { text: other } = await api.application.issueKey.execute({ accountId: account.id });
    const { id } = messageOf(await writeMessage(api, 'Hello', key), 202);
    expect(messageOf(await get(api, `${MESSAGES}/${id}`, other))).toMatchObject({ id });
  });

  it('to HEAD as to GET, without the body', async () => {
    const path = `${MESSAGES}/${message.id}`;
    const head = await request(api, path, { method: 'HEAD', headers: bearer(api.key) });
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers['content-length']).toBe(String((await get(api, path)).body.length));
  });
});

describe('GET /v1/messages/{messageId} answers 404 not_found', () => {
  it("to another account's message", async () => {
    const { key } = await api.openKey();
    expectError(await get(api, `${MESSAGES}/${message.id}`, key), 404, 'not_found');
  });

  it.each([
    ['that is unknown', () => 'msg_000000000000000000000000'],
    ['that is empty', () => ''],
    ['without its prefix', () => message.id.slice(4)],
    ['of the prefix alone', () => 'msg_'],
    ['that is cut short', () => message.id.slice(0, -1)],
    ['with a character behind', () => `${message.id}0`],
    ['in another case', () => message.id.toUpperCase()],
    ['with a space behind', () => `${message.id}%20`],
    ['with a line feed behind', () => `${message.id}%0A`],
    ['with U+0000 behind', () => `${message.id}%00`],
    ['of U+0000', () => '%00'],
    ['with U+0000 inside', () => 'msg_%00'],
    ['of an emoji', () => '%F0%9F%90%88'],
    ['with an emoji inside', () => 'msg_%F0%9F%90%88'],
    ['of 8,000 characters', () => `msg_${'x'.repeat(8_000)}`],
    ['of 60 characters', () => `msg_${'x'.repeat(60)}`],
    ['of digits', () => '1'],
    ['of a fraction', () => '1.5'],
    ['with an encoded slash', () => 'msg_%2F'],
    ['with a percent sign', () => 'msg_%25'],
    ['with a wildcard', () => 'msg_%25%25'],
    ['of an asterisk', () => '*'],
    ['of a placeholder', () => ':messageId'],
    ['of __proto__', () => '__proto__'],
    ['of SQL', () => "msg_'%20OR%20'1'='1"],
    ['of a noncharacter', () => 'msg_%EF%BF%BF'],
  ])('to a messageId %s', async (_case, id) => {
    expectError(await get(api, `${MESSAGES}/${id()}`), 404, 'not_found');
  });

  it('to HEAD of an unknown messageId, without the body', async () => {
    expectHeadError(await request(api, `${MESSAGES}/msg_x`, { method: 'HEAD', headers: bearer(api.key) }), 404);
  });
});

describe('GET /v1/messages/{messageId} answers 401', () => {
  it.each([
    ['a known messageId', () => message.id],
    ['an unknown messageId', () => 'msg_000000000000000000000000'],
    ['a malformed messageId', () => '%00'],
  ])('to no key and %s', async (_case, id) => {
    expectError(await request(api, `${MESSAGES}/${id()}`), 401, 'missing_api_key');
  });
});
