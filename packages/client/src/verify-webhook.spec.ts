import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { type ReceivedWebhook, verifyWebhook } from './index.js';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const NOW = Date.parse('2026-11-27T12:00:00Z');
const ID = 'evt_5f0d4a3c9b7e4d21a6c8f1b2e3d4c5a6';
const HAPPENED = '2026-11-21T12:00:00.000Z';
const BODY = `{"type":"pet.added","timestamp":"${HAPPENED}","sequence":1795262400001,"data":{"id":9223372036854775807,"name":"Łuna 🐈","categoryId":1,"status":"available"}}`;
const EVENT = {
  id: ID,
  type: 'pet.added',
  sequence: 1_795_262_400_001,
  createdAt: HAPPENED,
  data: { id: 9_223_372_036_854_775_807n, name: 'Łuna 🐈', categoryId: 1n, status: 'available' },
};

beforeEach(() => {
  jest.spyOn(Date, 'now').mockReturnValue(NOW);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** What a receiver gets, signed with each of these secrets. */
function received({ body = BODY, secrets = [SECRET], age = 0 } = {}) {
  const at = new Date(NOW - age * 1000);
  const headers = {
    'webhook-id': ID,
    'webhook-timestamp': String(at.getTime() / 1000),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(ID, at, body)).join(' '),
  };
  return { body, headers, secret: SECRET };
}

describe('a delivery', () => {
  it('is the event, with exact int64s', () => {
    expect(verifyWebhook(received())).toEqual(EVENT);
  });

  it('of a ping is without a sequence', () => {
    const [type, data] = ['webhook.ping', { id: 'whk_1' }];
    const body = JSON.stringify({ type, timestamp: HAPPENED, data });
    expect(verifyWebhook(received({ body }))).toEqual({ id: ID, type, createdAt: HAPPENED, data });
  });

  it('is verified with either secret during a rotation, and with any of several', () => {
    const rotating = received({ secrets: [OTHER, SECRET] });
    for (const secret of [SECRET, OTHER, [OTHER, SECRET]])
      expect(verifyWebhook({ ...rotating, secret })).toEqual(EVENT);
    expect(verifyWebhook({ ...received(), secret: [OTHER, SECRET] })).toEqual(EVENT);
  });

  it('may have its headers and its body in any usual form', () => {
    const { headers, ...rest } = received();
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    const more = { ...headers, 'set-cookie': ['a', 'b'], host: undefined };
    for (const form of [headers, upper, new Headers(headers), more])
      expect(verifyWebhook({ ...rest, headers: form })).toEqual(EVENT);
    const bytes = new TextEncoder().encode(BODY);
    for (const body of [bytes, bytes.buffer, Buffer.from(BODY)])
      expect(verifyWebhook({ ...rest, headers, body })).toEqual(EVENT);
  });

  it.each([0, 300])('of %i seconds ago is verified', (age) => {
    expect(verifyWebhook(received({ age }))).toEqual(EVENT);
  });
});

describe('refused is', () => {
  const { headers } = received();
  const without = (name: keyof typeof headers) => ({ ...headers, [name]: undefined });
  const parsed: unknown = JSON.parse(BODY);
  it.each<[string, Partial<ReceivedWebhook>, string]>([
    ['a changed byte', { body: BODY.replace('Łuna', 'Luna') }, 'not verified: No matching signature'],
    ['a byte order mark', { body: `\uFEFF${BODY}` }, 'not verified: No matching signature'],
    ['another secret', { secret: OTHER }, 'not verified: No matching signature'],
    ['no secret of none', { secret: [] }, 'not verified: no secret is given'],
    ['an empty secret', { secret: '' }, 'secret must be whsec_ and base64'],
    ['a secret that is none', { secret: ['whsec_?'] }, 'secret must be whsec_ and base64'],
    ['an old timestamp', received({ age: 301 }), 'not verified: Message timestamp too old'],
    ['a missing id', { headers: without('webhook-id') }, 'no header webhook-id'],
    ['a missing signature', { headers: without('webhook-signature') }, 'no header webhook-signature'],
    ['a parsed body', { body: parsed as string }, 'body must be the body as it came'],
    ['bytes that are no text', { body: Buffer.of(0xff) }, 'body must be the body as it came'],
    ['a signed body that is no event', received({ body: '{"type":"pet.added"}' }), 'is no event'],
    ['a signed event without a sequence', received({ body: BODY.replace('sequence', 'place') }), 'is no event'],
  ])('%s', (_, change, message) => {
    expect(() => verifyWebhook({ ...received(), ...change })).toThrow(message);
  });
});
