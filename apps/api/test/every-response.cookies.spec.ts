import { describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.js';

const routes: { readonly method: string; readonly url: string }[] = [];
const api = useApi({
  configure: (nest) =>
    nest
      .getHttpAdapter()
      .getInstance()
      .addHook('onRoute', ({ method, url }) => {
        for (const each of [method].flat()) routes.push({ method: each, url: url.replace(/:[^/]+/g, '1') });
      }),
});

describe('no answer that a cache may keep has a cookie,', () => {
  it('whichever route of the API and its pages it is of', async () => {
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
    const offered = routes.filter(({ method }) => methods.includes(method));
    expect(offered.length).toBeGreaterThan(10);
    for (const { method, url } of offered) {
      const headers = { cookie: 'session=a; csrf=b; __Host-session=c' };
      const answer = await fetch(api.origin + url.replaceAll('*', 'nowhere'), { method, headers });
      await answer.arrayBuffer();
      expect([method, url, answer.headers.getSetCookie()]).toEqual([method, url, []]);
    }
  });
});
