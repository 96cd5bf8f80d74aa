import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { AdoptionStore } from '../src/index.js';
import { KEY } from './support/scripted-client.js';
import { VirtualClock } from './support/virtual-clock.js';

const TEXT = '{"id":1,"name":"Cats"}';

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

/** A real HTTP server, the requests that it gets, and a client of it. */
async function serve(answer: RequestListener) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    answer(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  opened.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = new AdoptionStore({ baseUrl: `http://${place}/v1`, apiKey: KEY, clock: new VirtualClock() });
  return { store, requests, place };
}

describe('a connection that ends before the answer is complete is a network error, after five tries:', () => {
  it.each<[string, (response: ServerResponse) => void]>([
    ['reset before the headers', (response) => response.socket?.resetAndDestroy()],
    [
      'closed in the body',
      (response) => response.socket?.end(`HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n${TEXT.slice(0, 10)}`),
    ],
  ])('%s', async (_how, answer) => {
    const { store, requests } = await serve((_, response) => {
      answer(response);
    });
    await expect(store.categories.get(1n)).rejects.toMatchObject({ code: 'network_error', status: 0 });
    expect(requests).toHaveLength(5);
  });
});

it('says which host and port refused the connection', async () => {
  const { store, place } = await serve(() => undefined);
  opened.pop()?.();
  await expect(store.categories.get(1n)).rejects.toThrow(`${place} refused the connection`);
});

it('the key never reaches the server that a redirect leads to', async () => {
  const { requests, place } = await serve((_, response) => response.end(TEXT));
  const { store } = await serve((_, response) => response.writeHead(307, { Location: `http://${place}/v1` }).end());
  await expect(store.categories.get(1n)).rejects.toMatchObject({ code: 'unexpected_response', status: 307 });
  expect(requests).toEqual([]);
});
