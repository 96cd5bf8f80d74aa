import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { HOUR, type FailedRequest } from '@adoption-store/domain';
import { until } from '@adoption-store/test-support';
import { REFUSAL_MEANINGS } from '@adoption-store/web';
import { usePortal } from './support/portal.js';
import { type Visitor, walk } from './support/portal-visitor.js';

const portal = usePortal();

/** Does what the API does for a request with that key. */
async function send(key: string, failedRequest?: FailedRequest): Promise<void> {
  const { application } = portal;
  const caller = await application.authenticate.execute(key);
  const verdict = await application.meterRequest.execute(caller);
  application.recordRequest.execute(caller, { isUse: true, verdict, failedRequest });
}

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

describe('the log of failed requests', () => {
  it('shows why a request failed, which its id finds', async () => {
    const visitor = await portal.signedUp();
    const key = await visitor.issueKey({ name: 'קופה' });
    const reason = 'limit must be an integer from 1 to 100, given once';
    const failed = { operation: 'GET /v1/pets', status: 400, code: 'invalid_parameter', reason };
    for (const requestId of ['request-1', 'request-2']) await send(key, { ...failed, requestId });
    const page = await shows(visitor, '/refusals?request=request-1', '2 times');
    const why = `400 invalid_parameter${reason}`;
    const row = ['21 Nov, 12:00:002 times', why, 'GET /v1/pets', `קופה …${key.slice(-4)}`, 'request-1'];
    expect(rowsOf(page)).toEqual([row]);
    expect(page).toContain('<bdi dir="auto">קופה</bdi>');
    expect(page).toContain('A parameter or a field of the body breaks a rule.');
    for (const other of ['request-', 'request-11', '%00', '<script>']) {
      const { status, text } = await visitor.get(`/refusals?request=${encodeURIComponent(other)}`);
      expect([other, status]).toEqual([other, 200]);
      expect(text).toContain('No failed request that is listed has the id');
      expect(text).not.toContain('<script>');
    }
    const stranger = await portal.signedUp();
    expect((await stranger.get('/refusals?request=request-1')).text).toContain(
      'No failed request that is listed has the id',
    );
  });

  it('shows those with a code, of a key, or both', async () => {
    const visitor = await portal.signedUp();
    const [till, shop] = [await visitor.issueKey({ name: 'till' }), await visitor.issueKey({ name: 'shop' })];
    const { keyId } = await portal.application.authenticate.execute(till);
    const fail = (key: string, code: string, requestId: string) =>
      send(key, { operation: 'GET /v1/pets', status: 400, code, requestId });
    await fail(till, 'not_found', 'one');
    await fail(till, 'gone', 'two');
    await fail(shop, 'not_found', 'three');
    await shows(visitor, '/refusals', '>three<');
    const found = async (filter: string) =>
      rowsOf((await visitor.get(`/refusals?${filter}`)).text).map((row) => row.at(-1));
    expect((await found('code=not_found&key=&request=')).toSorted()).toEqual(['one', 'three']);
    expect(await found(`key=${keyId}&code=not_found`)).toEqual(['one']);
    const { text } = await visitor.get(`/refusals?code=%3Cb%3E&key=${keyId}`);
    for (const each of ['None with this code and key.', '<a href="/refusals">Show all</a>'])
      expect(text).toContain(each);
    expect(text).toContain('<option selected>&lt;b&gt;</option>');
    expect(text).toContain(`<option value="${keyId}" selected>\u2068till\u2069 …`);
  });

  it('shows the last 100, the latest first, page by page', async () => {
    const visitor = await portal.signedUp();
    const key = await visitor.issueKey();
    const codes = ['rate_limited', 'not_found', 'gone', 'invalid_json', 'bad_request'];
    for (let index = 0; index < 130; index += 1) {
      const [code = '', requestId] = [codes[index % codes.length], `number-${index}`];
      await send(key, { operation: 'POST /v1/pets', status: 400, code, reason: requestId, requestId });
      portal.clock.advance(1);
    }
    const text = await shows(visitor, '/refusals', 'number-129<');
    expect(text).toContain('<a href="#rate_limited">');
    expect(text).toMatch(/<dt id="rate_limited">.*<a href="\/quickstart#limits">Limits and errors<\/a>/);
    const pages = await walk(visitor, '/refusals', /<code>(number-\d+)</g);
    expect(pages.flat()).toEqual(Array.from({ length: 100 }, (_, index) => `number-${129 - index}`));
    expect((await visitor.get('/refusals?page=2')).text).toContain('<span>26–50 of 100</span>');
    for (const page of ['0', '5', 'x']) expect((await visitor.get(`/refusals?page=${page}`)).status).toBe(200);
  });

  it('has words for every code that the API describes', () => {
    const text = readFileSync(join(import.meta.dirname, '../../api/openapi.json'), 'utf8');
    const { components } = JSON.parse(text) as {
      components: { schemas: { ErrorCode: { 'x-extensible-enum': string[] } } };
    };
    expect(Object.keys(REFUSAL_MEANINGS).sort()).toEqual(components.schemas.ErrorCode['x-extensible-enum'].toSorted());
  });
});

describe('the usage page', () => {
  it('shows the hours or days that are asked for, of all keys or of one, with each key’s share', async () => {
    const visitor = await portal.signedUp();
    const [till, shop] = [await visitor.issueKey({ name: 'till' }), await visitor.issueKey({ name: 'shop' })];
    for (let sent = 0; sent < 3; sent += 1) await send(till);
    // In steps, because an unused session ends.
    for (let step = 0; step < 3; step += 1) {
      portal.clock.advance(HOUR / 3);
      await visitor.get('/plan');
    }
    await send(shop);
    const page = await shows(visitor, '/usage', '<strong>4 requests</strong> admitted');
    expect(rowsOf(page)).toEqual([
      ['21 Nov 2026', '4', '0'],
      [`till …${till.slice(-4)}`, '3', '3', '3', '75\u00a0%', '0'],
      [`shop …${shop.slice(-4)}`, '1', '1', '1', '25\u00a0%', '0'],
    ]);
    expect(page).toContain('title="21 Nov 2026, 13:00 UTC">just now</time>; later ones follow within seconds.');
    expect(page).toContain('title="22 Nov 2026, 00:00 UTC">in 11 h</time>');
    const hours = rowsOf((await visitor.get('/usage?range=48+hours')).text);
    expect(hours.slice(0, 2)).toEqual([
      ['21 Nov, 13:00', '1', '0'],
      ['21 Nov, 12:00', '3', '0'],
    ]);
    const { keyId } = await portal.application.authenticate.execute(till);
    const own = (await visitor.get(`/usage?key=${keyId}`)).text;
    expect(rowsOf(own)[0]).toEqual(['21 Nov 2026', '3', '0']);
    expect(own).toContain(`<option value="${keyId}" selected>\u2068till\u2069 …`);
    const { text } = await visitor.get(`/usage?range=90+days&key=${keyId}`);
    expect(text).toContain('viewBox="0 0 90 100"');
    expect(text).toContain(`href="/usage?key=${keyId}&amp;range=48+hours#requests"`);
  });

  it('is not found for what is no key of the account, an unknown range, or a filter that is given twice', async () => {
    const [visitor, stranger] = [await portal.signedUp(), await portal.signedUp()];
    const { keyId } = await portal.application.authenticate.execute(await stranger.issueKey());
    const usages = [keyId, 'x', '99999999999999999999', '1&key=2'].map((key) => `/usage?key=${key}`);
    for (const path of [...usages, '/usage?range=31+days', '/refusals?request=a&request=b', '/refusals?key=x'])
      expect([path, (await visitor.get(path)).status]).toEqual([path, 404]);
    expect((await visitor.get('/usage?key=')).status).toBe(200);
  });
});
