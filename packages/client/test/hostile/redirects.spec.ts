import { describe, expect } from '@jest/globals';
import { type Case, cats, play, unexpected } from './cases.js';
import { bytes, type Step } from './hostile-server.js';

const redirect =
  (status: number, location: string): Step =>
  (response, exchange) => {
    const address = location.replace('HERE', exchange.origin).replace('FOREIGN', exchange.foreign);
    return bytes(status, '', location === '' ? {} : { Location: address })(response, exchange);
  };

const STATUSES = [300, 301, 302, 303, 304, 305, 306, 307, 308, 399];
const LOCATIONS = ['', '/v1/categories/1', 'HERE/v1/categories/2', 'HERE/login', 'FOREIGN/v1/categories/1', 'http:'];

describe('a redirect is no answer, and nothing is sent to where it leads', () => {
  play([
    ...STATUSES.map((status): Case => ({
      server: `${status} to FOREIGN/v1/categories/1`,
      steps: [redirect(status, 'FOREIGN/v1/categories/1'), cats],
      ends: unexpected(status),
      requests: 1,
    })),
    ...LOCATIONS.map((location): Case => ({
      server: `302 to ${location || 'nowhere'}`,
      steps: [redirect(302, location), cats],
      ends: unexpected(302),
      requests: 1,
    })),
    ...[301, 302, 303, 307, 308].map((status): Case => ({
      server: `${status} of a POST to FOREIGN/v1/pets`,
      steps: [redirect(status, 'FOREIGN/v1/pets'), cats],
      call: (store) => store.createPet({ name: 'Luna', categoryId: 1n }),
      ends: { ...unexpected(status), idempotencyKey: expect.stringMatching(/^[\w-]{36}$/) },
      requests: 1,
    })),
    {
      server: '302 to itself, for ever',
      steps: [redirect(302, '/v1/categories/1')],
      ends: unexpected(302),
      requests: 1,
    },
  ]);
});
