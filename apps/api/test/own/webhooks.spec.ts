import { EVENT_TYPES, SECOND } from '@adoption-store/domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api.js';
import { bodyOf, get, placeOrder, send as sendAs, walk } from '../support/client.js';
import { expectError } from '../support/expectations.js';
import type { RawResponse } from '../support/raw-http.js';

const WEBHOOKS = '/v1/webhooks';
const URL = 'https://shelter.example/adoptions';
const SECRET = /^whsec_[\w+/]{43}=$/;
/** What a webhook always has. */
const BARE = ['id', 'url', 'status', 'createdAt', 'updatedAt'];

/** A webhook or a delivery. */
interface Shown {
  readonly id: string;
  readonly secret?: string;
  readonly createdAt: string;
  readonly updatedAt?: string;
  readonly eventId?: string;
  readonly sequence?: number;
}

const api = useApi();
/** Of an account of the test's own. */
let key: string;
beforeEach(async () => {
  ({ key } = await api.openKey());
  api.webhookSender.requests.length = 0;
  api.webhookSender.answer = () => 204;
});

function send(method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>) {
  return sendAs({ ...api, key }, method, path, body, headers);
}

const shownIn = (response: RawResponse, status?: number) => bodyOf(response, status) as Shown;
const listOf = (response: RawResponse) => bodyOf(response) as readonly Shown[];

async function create(fields: object = {}): Promise<Shown & { readonly path: string }> {
  const webhook = shownIn(await send('POST', WEBHOOKS, { url: URL, ...fields }), 201);
  return { ...webhook, path: `${WEBHOOKS}/${webhook.id}` };
}

const ping = async (path: string) => shownIn(await send('POST', `${path}/ping`), 202);
const deliveries = async (path: string) => listOf(await get(api, `${path}/deliveries`, key));

async function deliver(): Promise<void> {
  await api.application.publishEvents.execute();
  await api.application.wakeWebhooks.execute();
  while ((await api.application.deliverWebhooks.execute()).mayHaveMore);
}

/** Every operation on a webhook. */
const OPERATIONS: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['GET', ''],
  ['PATCH', '', { status: 'disabled' }],
  ['POST', '/rotate-secret'],
  ['POST', '/ping'],
  ['GET', '/deliveries'],
  ['POST', '/deliveries/dlv_1/retry'],
  ['POST', '/recover', { since: '2026-11-21T00:00:00Z' }],
  ['DELETE', ''],
];

describe('a secret', () => {
  it('is shown at creation and rotation, each time another one, and never else', async () => {
    const response = await send('POST', WEBHOOKS, { url: URL, types: ['order.placed'], description: 'Orders' });
    const { secret = '', ...webhook } = shownIn(response, 201);
    expect(secret).toMatch(SECRET);
    const path = `${WEBHOOKS}/${webhook.id}`;
    expect(response.headers['location']).toBe(api.origin + path);
    const rotated = await send('POST', `${path}/rotate-secret`);
    const { secret: another = '' } = shownIn(rotated);
    expect(another).toMatch(SECRET);
    expect(another).not.toBe(secret);
    const read = [await get(api, path, key), await get(api, WEBHOOKS, key), await send('PATCH', path, { url: URL })];
    for (const { status, body } of read) {
      expect(status).toBe(200);
      for (const hidden of [secret, another, 'whsec_', 'secret']) expect(body).not.toContain(hidden);
    }
  });

  it('is not part of the entity tag, which is the one that a GET gives', async () => {
    const created = await send('POST', WEBHOOKS, { url: URL });
    const path = `${WEBHOOKS}/${shownIn(created, 201).id}`;
    expect((await get(api, path, key)).headers['etag']).toBe(created.headers['etag']);
    api.clock.advance(SECOND);
    const rotated = await send('POST', `${path}/rotate-secret`, undefined, {
      'If-Match': created.headers['etag'] ?? '',
    });
    expect(rotated).toMatchObject({ status: 200 });
    expect((await get(api, path, key)).headers['etag']).toBe(rotated.headers['etag']);
  });

  it('is never stored with an answer: an Idempotency-Key is refused, which says why, and nothing is done', async () => {
    const { path } = await create();
    const before = await get(api, path, key);
    for (const [target, body] of [[WEBHOOKS, { url: URL }], [`${path}/rotate-secret`]] as const) {
      const refused = await send('POST', target, body, { 'Idempotency-Key': 'one' });
      expect(expectError(refused, 400, 'invalid_parameter')).toMatch(/^Idempotency-Key .*secret.*not stored/);
    }
    expect((await get(api, WEBHOOKS, key)).body).toBe(`[${before.body}]`);
  });
});

describe('a webhook', () => {
  it('is shown with these properties, and without those that it lacks', async () => {
    const chosen = { url: URL, types: ['order.placed', 'message.sent'], description: 'Łuna 🐈' };
    const { id, path, updatedAt } = await create({ ...chosen, id: 'ignored' });
    const times = { createdAt: updatedAt, updatedAt };
    expect(shownIn(await get(api, path, key))).toEqual({ id, ...chosen, status: 'enabled', ...times });
    const bare = await create();
    expect(Object.keys(shownIn(await get(api, bare.path, key)))).toEqual(BARE);
    // Both may be of one millisecond.
    expect(new Set(listOf(await get(api, WEBHOOKS, key)).map((each) => each.id))).toEqual(new Set([id, bare.id]));
  });

  it('is changed by a merge patch, in which null takes types and description away', async () => {
    const { path } = await create({ types: ['order.placed'], description: 'Orders' });
    const patched = async (change: object, type = 'application/merge-patch+json') =>
      shownIn(await send('PATCH', path, change, { 'Content-Type': type }));
    const changed = { url: `${URL}/2`, types: [...EVENT_TYPES], description: 'Orders' };
    expect(await patched({ url: `${URL}/2`, types: [...EVENT_TYPES] })).toMatchObject(changed);
    const without = await patched({ types: null, description: null, status: 'disabled' }, 'application/json');
    expect(without).toMatchObject({ status: 'disabled' });
    expect(Object.keys(without)).toEqual(BARE);
  });

  it.each([
    ['url', [undefined, null, 7, 'http://shelter.example']],
    ['types', [[], 'order.placed', ['order.lost'], [1], null]],
    ['description', [7, 'x'.repeat(256), null]],
  ])('is refused with a bad %s, at creation', async (field, values) => {
    for (const value of values) {
      const refused = await send('POST', WEBHOOKS, { url: URL, [field]: value });
      expect(expectError(refused, 400, 'invalid_parameter')).toMatch(new RegExp(`^${field} `));
    }
    expect(shownIn(await get(api, WEBHOOKS, key))).toEqual([]);
  });

  it('is refused with a property that no webhook has, which is named, and stays what it is', async () => {
    const { path, secret, ...webhook } = await create({ types: ['order.placed'] });
    const shown = await get(api, path, key);
    const misspelt = ['events', 'event_types', 'eventTypes', 'Types', 'type', 'callback_url', '', 'toString'];
    for (const name of misspelt) {
      const fields = { url: `${URL}/2`, [name]: ['order.placed'] };
      for (const refused of [await send('POST', WEBHOOKS, fields), await send('PATCH', path, fields)])
        expect(expectError(refused, 400, 'invalid_parameter')).toMatch(
          new RegExp(`^"${name}" is not a property of a webhook, only url, types, description.* can be set`),
        );
    }
    const told = async (fields: object) => expectError(await send('POST', WEBHOOKS, fields), 400, 'invalid_parameter');
    expect(await told({ uri: URL, types: ['x'] })).toMatch(
      /^"uri" is not a property of a webhook, only url, types, description can be set; url is required; types must be /,
    );
    expect(await told({ url: URL, secret })).toMatch(/^"secret" is not a property/);
    expect((await get(api, path, key)).body).toBe(shown.body);
    // What was read, or shown at creation, can be sent back.
    const { body: listed } = await get(api, WEBHOOKS, key);
    for (const whole of [webhook, { ...webhook, secret }, { ...webhook, recoveringSince: webhook.createdAt }])
      expect((await send('PATCH', path, whole)).body).toBe(shown.body);
    expect((await get(api, WEBHOOKS, key)).body).toBe(listed);
    expect(shownIn(await send('POST', WEBHOOKS, webhook), 201).id).not.toBe(webhook.id);
  });

  it('is not changed to a bad value, nor by a change of nothing', async () => {
    const { path } = await create();
    const before = (await get(api, path, key)).body;
    for (const change of [{ url: null }, { types: [] }, { description: 7 }, { status: 'paused' }, {}])
      expectError(await send('PATCH', path, change), 400, 'invalid_parameter');
    expect((await get(api, path, key)).body).toBe(before);
  });

  it('is one of at most 10 of its account', async () => {
    for (let count = 0; count < 10; count += 1) await create();
    expect(expectError(await send('POST', WEBHOOKS, { url: URL }), 409, 'too_many_webhooks')).toContain('10');
  });

  it('is 404 to another account, as an unknown one is, and once it is deleted', async () => {
    const { path } = await create();
    const messages = async (of: string) => {
      const refused = await Promise.all(OPERATIONS.map(([method, rest, body]) => send(method, of + rest, body)));
      return refused.map((response) => expectError(response, 404, 'not_found'));
    };
    const unknown = await messages(`${WEBHOOKS}/whk_unknown%00`);
    const owner = key;
    ({ key } = await api.openKey());
    expect(await messages(path)).toEqual(unknown);
    key = owner;
    shownIn(await get(api, path, key));
    expect(await send('DELETE', path)).toMatchObject({ status: 204 });
    expect(await messages(path)).toEqual(unknown);
  });

  it('that was changed meanwhile is 412 to every operation with its former tag, and nothing happens', async () => {
    const { path } = await create();
    await ping(path);
    const [{ id: delivery } = { id: '' }] = await deliveries(path);
    const former = (await get(api, path, key)).headers['etag'] ?? '';
    shownIn(await send('PATCH', path, { description: 'changed' }));
    const { body, headers } = await get(api, path, key);
    const listed = await deliveries(path);
    for (const [method, rest, change] of OPERATIONS) {
      if (method === 'GET') continue;
      const target = path + rest.replace('dlv_1', delivery);
      const response = await send(method, target, change, { 'If-Match': former });
      expectError(response, 412, 'precondition_failed');
      expect(response.headers['etag']).toBe(headers['etag']);
    }
    expect((await get(api, path, key)).body).toBe(body);
    expect(await deliveries(path)).toEqual(listed);
    expect(await send('DELETE', path, undefined, { 'If-Match': headers['etag'] ?? '' })).toMatchObject({ status: 204 });
  });

  it('that is disabled is 409 to what would send', async () => {
    const { path } = await create();
    const { id } = await ping(path);
    shownIn(await send('PATCH', path, { status: 'disabled' }));
    const since = { since: '2026-11-21T00:00:00Z' };
    for (const [rest, body] of [['/ping'], [`/deliveries/${id}/retry`], ['/recover', since]] as const)
      expectError(await send('POST', path + rest, body), 409, 'webhook_disabled');
  });
});

describe('deliveries', () => {
  it('show an event on its way, with its type, sequence and data as the feed has them, and a ping', async () => {
    const url = 'https://shelter.example/orders';
    const { path } = await create({ url, types: ['order.placed'] });
    const order = await placeOrder(api, key);
    await deliver();
    const { id: pingId } = await ping(path);
    const queued = { id: pingId, type: 'webhook.ping', status: 'queued', attempts: 0, history: [] };
    expect((await deliveries(path))[0]).toMatchObject(queued);
    await deliver();
    const [, event] = await deliveries(path);
    const outcome = { status: 'sent', attempts: 1, responseStatus: 204, history: [{ responseStatus: 204 }] };
    expect(event).toMatchObject({ type: 'order.placed', ...outcome });
    const [shown] = listOf(await get(api, '/v1/events?type=order.placed&limit=1', key));
    const [sent, pinged] = api.webhookSender.requests.filter((each) => each.url === url);
    expect(shown).toMatchObject({ id: event?.eventId, data: order });
    expect(sent?.id).toBe(event?.eventId);
    const received = { type: 'order.placed', timestamp: shown?.createdAt, sequence: shown?.sequence, data: order };
    expect(JSON.parse(sent?.body ?? '')).toEqual(received);
    expect(pinged?.id).toBe(pingId);
  });

  it('are listed newest first, in pages whose links lead through all of them', async () => {
    const { path } = await create();
    const ids: string[] = [];
    while (ids.length < 5) ids.unshift((await ping(path)).id);
    const pages = await walk(api, `${path}/deliveries?limit=2`, key);
    expect(pages.flatMap((each) => listOf(each)).map(({ id }) => id)).toEqual(ids);
    expect(pages).toHaveLength(3);
    for (const query of ['limit=0', 'cursor=', 'status=failed'])
      expectError(await get(api, `${path}/deliveries?${query}`, key), 400, 'invalid_parameter');
  });

  it('are retried by their ids, each of its own webhook', async () => {
    const { path } = await create();
    const { id } = await ping(path);
    await deliver();
    expect(await deliveries(path)).toMatchObject([{ id, status: 'sent' }]);
    const retried = shownIn(await send('POST', `${path}/deliveries/${id}/retry`), 202);
    expect(retried).toMatchObject({ id, status: 'queued', attempts: 0 });
    const other = await create();
    for (const each of [`${other.path}/deliveries/${id}`, `${path}/deliveries/dlv_0`])
      expect(expectError(await send('POST', `${each}/retry`), 404, 'not_found')).toContain('delivery');
  });

  it('are recovered since a time, which the webhook shows', async () => {
    const { path, secret, ...webhook } = await create();
    const recover = (since: unknown) => send('POST', `${path}/recover`, { since });
    const recovering = { ...webhook, recoveringSince: '2026-11-20T12:00:00.000Z' };
    expect(shownIn(await recover('2026-11-20T13:00:00+01:00'), 202)).toEqual(recovering);
    expect(shownIn(await get(api, path, key))).toEqual(recovering);
    for (const since of [undefined, null, 0, 'yesterday', '2026-11-21', '2026-11-21T12:00:00'])
      expect(expectError(await recover(since), 400, 'invalid_parameter')).toMatch(/^since /);
  });
});
