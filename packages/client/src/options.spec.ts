import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { BASE, clientOf, created, KEY, pet } from '../test/support/scripted-client.js';
import { AdoptionStore } from './index.js';

describe('the options', () => {
  const { env } = process;
  afterEach(() => {
    process.env = env;
  });

  it('come from the environment by default', async () => {
    process.env = { ...env, API_URL: 'https://api.example/v1', API_KEY: 'aas_live_other' };
    const { store, sent } = clientOf([created()], { baseUrl: undefined, apiKey: undefined });
    await store.pets.create({ name: 'Luna', categoryId: 1n });
    expect(sent[0]?.url).toBe('https://api.example/v1/pets');
    expect(sent[0]?.headers.get('Authorization')).toBe('Bearer aas_live_other');
  });

  it.each([undefined, ''])('must be somewhere, and not %j', (none) => {
    process.env = {};
    const keyless = () => new AdoptionStore({ baseUrl: BASE, apiKey: none });
    expect(keyless).toThrow('apiKey is missing: pass it, or set API_KEY');
    const homeless = () => new AdoptionStore({ baseUrl: none, apiKey: KEY });
    expect(homeless).toThrow('baseUrl is missing: pass it, or set API_URL');
  });

  it.each(['https://api.example', 'https://api.example/v10', 'http://localhost:3000/v1/pets'])(
    'have a baseUrl that ends in /v1, unlike %s',
    (baseUrl) => {
      const rule = new TypeError('baseUrl (or API_URL) must end in /v1');
      expect(() => new AdoptionStore({ baseUrl, apiKey: KEY })).toThrow(rule);
    },
  );

  it.each([
    ['maxTries', [0, 1.5, NaN, 101, '5'], 'an integer from 1 to 100'],
    ['maxWait', [-1, 2 ** 31], 'an integer from 0 to 2147483647'],
    ['tryTimeout', [0, 2 ** 31], 'an integer from 1 to 2147483647'],
    ['timeout', [0, 2 ** 31], 'an integer from 1 to 2147483647'],
    ['maxInFlight', [0, 1001], 'an integer from 1 to 1000'],
  ])('%s is checked', (name, values, rule) => {
    for (const value of values)
      expect(() => new AdoptionStore({ baseUrl: BASE, apiKey: KEY, [name]: value })).toThrow(
        new RangeError(`${name} must be ${rule}`),
      );
  });
});

describe('the key', () => {
  it('is sent only to the API, without cookies and never through a redirect', async () => {
    const { store, sent } = clientOf([pet()]);
    await store.pets.list().page();
    expect(sent[0]?.headers.get('Authorization')).toBe(`Bearer ${KEY}`);
    expect(sent[0]?.init).toMatchObject({ redirect: 'manual', credentials: 'omit' });
    expect(sent[0]?.headers.get('User-Agent')).toMatch(/^adoption-store-client\/\d+\.\d+\.\d+$/);
  });

  it('never appears in printed output', () => {
    const { store } = clientOf([pet()]);
    const printed = [store, store.pets.list()].map((each) => inspect(each, { showHidden: true, depth: null }));
    expect(printed.join() + JSON.stringify(store)).not.toContain(KEY);
  });

  it.each([
    ['aas live', 'a blank (U+0020)'],
    ['aas\u00a0live', 'a blank (U+00A0)'],
    ['aas_live\n', 'a line end (U+000A)'],
    ['aas_\u200blive', 'an invisible character (U+200B)'],
    ['\ufeffaas_live', 'a blank (U+FEFF)'],
    ['aas_\0live', 'an invisible character (U+0000)'],
    ['aas_\u{e0061}live', 'an invisible character (U+E0061)'],
    ['ключ', 'a character that is not ASCII (U+043A)'],
  ])('is refused as %j, without being quoted', (apiKey, what) => {
    expect(() => new AdoptionStore({ baseUrl: BASE, apiKey })).toThrow(
      new TypeError(`apiKey (or API_KEY) has ${what}, which no key has`),
    );
  });

  it('is sent over http to another machine if the option says so', async () => {
    const { store, sent } = clientOf([pet()], { baseUrl: 'http://api:3000/v1', allowHttp: true });
    await store.pets.list().page();
    expect(sent[0]?.url).toBe('http://api:3000/v1/pets');
    const refused = () => clientOf([], { baseUrl: 'ftp://api/v1', allowHttp: true });
    expect(refused).toThrow('baseUrl must be https');
  });

  it.each(['http://api.example/v1', 'http://localhost.example/v1', 'ftp://localhost/v1', 'http://127.0.0.1.example'])(
    'is not sent to %s',
    (baseUrl) => {
      expect(() => new AdoptionStore({ baseUrl, apiKey: KEY })).toThrow(
        'baseUrl must be https, except on localhost; allowHttp: true allows http',
      );
    },
  );

  it.each(['http://localhost:3000/v1', 'http://127.0.0.1:3000/v1/', 'http://[::1]/v1', 'https://api.example/a/v1'])(
    'is sent to %s',
    async (baseUrl) => {
      const { store, sent } = clientOf([pet()], { baseUrl });
      await store.pets.list().page();
      expect(sent[0]?.url).toBe(`${baseUrl.replace(/\/$/, '')}/pets`);
    },
  );
});
