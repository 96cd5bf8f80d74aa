import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ANSWER_TTL,
  DEFAULT_ADDRESS_LIMIT,
  DEFAULT_BAN_POLICY,
  DEFAULT_ORDER_LIMIT,
  DEFAULT_ORDER_TTL,
  HOUR,
  MINUTE,
} from '@adoption-store/domain';
import { describe, expect, it } from '@jest/globals';
import { description } from '../src/openapi/description.js';
import { useApi } from './support/api.js';
import { bearer } from './support/pets-client.js';
import { request } from './support/raw-http.js';

const api = useApi();
const shown = (description['info'] as { description: string }).description;
const readme = readFileSync(join(__dirname, '../README.md'), 'utf8');

const oneLine = (text: string) => text.replace(/\s+/g, ' ');

describe('the documents for integrators', () => {
  it('have the numbers of the code', () => {
    const { refusals, firstBan, longestBan } = DEFAULT_BAN_POLICY;
    expect([refusals, firstBan, longestBan]).toEqual([50, 5 * MINUTE, HOUR]);
    for (const sentence of [
      `A key with ${refusals} refusals (429) within a minute is banned for ${firstBan / MINUTE} minutes`,
      `up to ${longestBan / MINUTE} minutes`,
      `may send ${DEFAULT_ADDRESS_LIMIT} requests a minute without a valid key`,
      `expires after ${DEFAULT_ORDER_TTL / HOUR} hours`,
      `may have ${DEFAULT_ORDER_LIMIT} placed orders`,
      `for ${ANSWER_TTL / HOUR} hours it gets the same response`,
    ])
      expect(oneLine(shown)).toContain(sentence);
    for (const sentence of [
      `A key with ${refusals} refusals in a minute is banned: 429 \`key_banned\` for ${firstBan / MINUTE} minutes`,
      `Requests without a valid key are limited to ${DEFAULT_ADDRESS_LIMIT} a minute`,
      `\`ORDER_TTL\` (${DEFAULT_ORDER_TTL / HOUR} hours by default)`,
      `For ${ANSWER_TTL / HOUR} hours it gets the same bytes`,
    ])
      expect(oneLine(readme)).toContain(sentence);
  });
});

describe('as the documents say,', () => {
  const post = (key: string, idempotencyKey: string, body: string) =>
    request(api, '/v1/pets', {
      method: 'POST',
      headers: { ...bearer(key), 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
      body,
    });
  const remaining = ({ headers }: { headers: Readonly<Record<string, string>> }) =>
    Number(headers['x-ratelimit-remaining']);

  it('a repetition, a 304, a 400 and a 404 cost one request each, and GET /v1/rate_limit none', async () => {
    const { key } = await api.openKey();
    const first = await post(key, 'cost', '{"name":"Luna","categoryId":1}');
    const repeated = await post(key, 'cost', '{"name":"Luna","categoryId":1}');
    expect(repeated.headers['idempotent-replayed']).toBe('true');
    const refused = await request(api, '/v1/pets?limit=0', { headers: bearer(key) });
    const missing = await request(api, '/v1/store/orders/1', { headers: bearer(key) });
    await request(api, '/v1/rate_limit', { headers: bearer(key) });
    const list = await request(api, '/v1/pets', { headers: bearer(key) });
    const known = { ...bearer(key), 'If-None-Match': list.headers['etag'] ?? '' };
    const unchanged = await request(api, '/v1/pets', { headers: known });
    const all = [first, repeated, refused, missing, list, unchanged];
    expect(all.map(({ status }) => status)).toEqual([201, 201, 400, 404, 200, 304]);
    expect(all.map(remaining)).toEqual([0, 1, 2, 3, 4, 5].map((spent) => remaining(first) - spent));
  });

  it('another spelling of the same JSON is another body', async () => {
    await post(api.key, 'bytes', '{"name":"Luna","categoryId":1}');
    const { status, body } = await post(api.key, 'bytes', '{"name": "Luna", "categoryId": 1}');
    expect([status, JSON.parse(body)]).toEqual([400, expect.objectContaining({ code: 'idempotency_key_reused' })]);
  });

  it('a 400 is not stored, and its key is free for a corrected body', async () => {
    expect((await post(api.key, 'corrected', '{"name":"","categoryId":1}')).status).toBe(400);
    expect((await post(api.key, 'corrected', '{"name":"Luna","categoryId":1}')).status).toBe(201);
  });

  it('an unknown parameter is named', async () => {
    const { status, body } = await request(api, '/v1/pets?stauts=sold', { headers: bearer(api.key) });
    expect([status, JSON.parse(body)]).toEqual([
      400,
      { code: 'invalid_parameter', message: expect.stringContaining('stauts'), status: 400 },
    ]);
  });

  it('an int64 as a string is refused', async () => {
    expect((await post(api.key, 'string', '{"name":"Luna","categoryId":"1"}')).status).toBe(400);
  });
});
