import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { HOUR } from '@adoption-store/domain';
import { until } from '@adoption-store/test-support';
import { REFUSAL_MEANINGS } from '../src/refusal-meanings.js';
import { useApi } from './support/portal-api.js';
import { usePortal, type Visitor } from './support/portal-visitor.js';

const portal = usePortal();
const api = useApi(portal);

const call = (key: string, path: string, headers: Record<string, string> = {}) =>
  fetch(api.origin + path, { headers: { authorization: `Bearer ${key}`, ...headers } });

/** Waits until the page contains the text, and returns the page. */
async function shows(visitor: Visitor, path: string, text: string): Promise<string> {
  await until(async () => (await visitor.get(path)).text.includes(text));
  return (await visitor.get(path)).text;
}

const rowsOf = (page: string) =>
  [...page.matchAll(/<tr><th scope="row">.*?<\/tr>/g)].map(([row]) =>
    row
      .replaceAll(/<\/t[hd]>/g, '|')
      .replaceAll(/<[^>]+>/g, '')
      .split('|')
      .slice(0, -1),
  );

describe('the log of refused requests', () => {
  it('shows why a request was refused, which its id finds', async () => {
    const visitor = await portal.signedUp();
    const key = await visitor.issueKey({ name: 'קופה' });
    const refused = await call(key, '/v1/pets?limit=0');
    const id = refused.headers.get('x-request-id') ?? '';
    expect([refused.status, id]).toEqual([400, expect.stringMatching(/^.{10,}$/)]);
    const page = await shows(visitor, `/refusals?request=${id}`, 'invalid_parameter');
    expect(rowsOf(page)).toEqual([
      ['21 Nov, 12:00:00', `קופה …${key.slice(-4)}`, 'GET /v1/pets', 'invalid_parameter', id],
    ]);
    expect(page).toContain('<bdi dir="auto">קופה</bdi>');
    expect(page).toContain('A parameter or a field of the body breaks a rule.');
    for (const other of [id.slice(1), `${id}0`, '%00', '<script>', 'x'.repeat(1_000)]) {
      const { status, text } = await visitor.get(`/refusals?request=${encodeURIComponent(other)}`);
      expect(status).toBe(200);
      expect(text).toContain('No refused request has the id');
      expect(text).not.toContain('<script>');
    }
    const stranger = await portal.signedUp();
    expect((await stranger.get(`/refusals?request=${id}`)).text).toContain('No refused request has the id');
  });

  it('has no page for a filter that is given twice', async () => {
    const visitor = await portal.signedUp();
    for (const path of ['/refusals?request=a&request=b', '/usage?key=1&key=2', '/usage?key=one'])
      expect([path, (await visitor.get(path)).status]).toEqual([path, 404]);
  });

  it('shows the last 100 of 1,000, the latest first, page by page', async () => {
    const visitor = await portal.signedUp();
    const key = await visitor.issueKey();
    const { accountId, keyId } = await portal.application.authenticate.execute(key);
    for (let index = 0; index < 1_000; index += 1) {
      const refusal = { operation: 'POST /v1/pets', code: 'rate_limited', requestId: `number-${index}` };
      portal.application.recordRequest.execute({ accountId, keyId }, { isUse: true, refusal });
      portal.clock.advance(1);
    }
    await shows(visitor, '/refusals', 'number-999<');
    const ids: (string | undefined)[] = [];
    for (let next: string | undefined = '/refusals'; next !== undefined;) {
      const { text } = await visitor.get(next);
      expect(text.includes('rel="prev"')).toBe(ids.length > 0);
      ids.push(...rowsOf(text).map((row) => row.at(-1)));
      next = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(ids).toEqual(Array.from({ length: 100 }, (_, index) => `number-${999 - index}`));
    for (const page of ['0', '5', '-1', 'x', '99999']) {
      expect([page, (await visitor.get(`/refusals?page=${page}`)).status]).toEqual([page, 200]);
    }
  });

  it('has words for every code of a refusal that the API describes', () => {
    const text = readFileSync(join(import.meta.dirname, '../../api/openapi.json'), 'utf8');
    const { components } = JSON.parse(text) as {
      components: { schemas: { ErrorCode: { 'x-extensible-enum': string[] } } };
    };
    const ofTheServer = ['internal_error', 'service_unavailable'];
    expect(Object.keys(REFUSAL_MEANINGS).sort()).toEqual(
      components.schemas.ErrorCode['x-extensible-enum'].filter((code) => !ofTheServer.includes(code)).sort(),
    );
  });
});

describe('the usage page', () => {
  it('shows hours and days of all keys, or of one, with each key’s share', async () => {
    const visitor = await portal.signedUp();
    const [till, shop] = [await visitor.issueKey({ name: 'till' }), await visitor.issueKey({ name: 'shop' })];
    const send = async (key: string, times: number) => {
      for (let sent = 0; sent < times; sent += 1) expect((await call(key, '/v1/pets')).status).toBe(200);
    };
    await send(till, 3);
    // In steps, because an unused session ends.
    for (let step = 0; step < 3; step += 1) {
      portal.clock.advance(HOUR / 3);
      await visitor.get('/plan');
    }
    await send(shop, 1);
    const page = await shows(visitor, '/usage', '<strong>4 requests</strong> admitted');
    const [hour, before, today, ofTill, ofShop] = rowsOf(page);
    expect([hour, before, today]).toEqual([
      ['21 Nov, 13:00', '1', '0'],
      ['21 Nov, 12:00', '3', '0'],
      ['21 Nov 2026', '4', '0'],
    ]);
    expect([ofTill, ofShop]).toEqual([
      [`till …${till.slice(-4)}`, '3', '3', '3', '75\u00a0%', '0'],
      [`shop …${shop.slice(-4)}`, '1', '1', '1', '25\u00a0%', '0'],
    ]);
    expect(page).toMatch(/As of <time datetime="2026-11-21T13:00:0\d.\d{3}Z">21 Nov 2026, 13:00:0\d UTC<\/time>/);
    expect(page).toContain('Resets <time datetime="2026-11-22T00:00:00.000Z">22 Nov 2026, 00:00:00 UTC</time>');
    const { keyId } = await portal.application.authenticate.execute(till);
    const own = (await visitor.get(`/usage?key=${keyId}`)).text;
    expect(rowsOf(own).slice(0, 2)).toEqual([
      ['21 Nov, 12:00', '3', '0'],
      ['21 Nov 2026', '3', '0'],
    ]);
    expect(own).toContain(`<option value="${keyId}" dir="auto" selected>`);
  });

  it('is not found for what is no key of the account', async () => {
    const [visitor, stranger] = [await portal.signedUp(), await portal.signedUp()];
    const { keyId } = await portal.application.authenticate.execute(await stranger.issueKey());
    for (const key of [keyId, 'x', '-1', '99999999999999999999', '%00']) {
      expect([key, (await visitor.get(`/usage?key=${key}`)).status]).toEqual([key, 404]);
    }
    expect((await visitor.get('/usage?key=')).status).toBe(200);
  });
});
