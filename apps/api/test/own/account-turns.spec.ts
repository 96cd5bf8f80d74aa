import { type AccountId, plan } from '@adoption-store/domain';
import { Turns } from '@adoption-store/infrastructure/turns';
import { until } from '@adoption-store/test-support';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { OPERATIONS } from '../../src/api.module.js';
import { EXAMPLE_CURSOR } from '../../src/http/operations/pages.js';
import { byOperator } from '@adoption-store/domain/testing';
import { ApiMetrics } from '../../src/create-api.js';
import { useApi } from '../support/api.js';
import { bearer, changePet, get } from '../support/client.js';
import { expectError } from '../support/expectations.js';
import { type RawResponse, request } from '../support/raw-http.js';

const bob = { id: 2n as AccountId, plan: plan('pro') };

const IDLE = {
  pool: { idle: 0, used: 0, givenUp: 0, size: 0, waiting: 0 },
  limitFallbacks: 0,
  droppedFailedRequests: 0,
  clockSkew: 0,
  dependencies: new Map(),
};

describe('while all turns of its account are taken, a request waits:', () => {
  const turns = new Turns(10);
  const api = useApi({ turns });
  const targets = OPERATIONS.filter(({ hasOwnBucket }) => hasOwnBucket !== true).map(({ method, route }) => ({
    method,
    path: route.slice(method.length + 1).replace(/\{\w+\}/g, '1'),
  }));
  let answers: ReadonlyMap<string, RawResponse>;

  beforeAll(async () => {
    const { account, key } = await api.openKey();
    const { writes, slowWrites, additions, reads, events, finds, pages } = turns;
    for (const each of [writes, slowWrites, additions, reads, events, finds, pages]) {
      while (each.tryRun(account, () => new Promise(() => undefined)) !== undefined);
    }
    const list = { method: 'GET', path: `/v1/pets?cursor=${EXAMPLE_CURSOR}` };
    const addOnce = { method: 'POST', path: '/v1/pets', 'Idempotency-Key': 'a' };
    const all = [...targets, list, addOnce].map(async ({ method, path, ...headers }) => {
      const body = method === 'POST' ? '{"name":"Luna","categoryId":1}' : undefined;
      const type = { 'Content-Type': 'application/json' };
      const response = await request(api, path, { method, body, headers: { ...bearer(key), ...type, ...headers } });
      return [`${method} ${path} ${Object.keys(headers).join()}`.trim(), response] as const;
    });
    answers = new Map(await Promise.all(all));
  });

  it('each operation but GET /v1/rate_limit, as a read or as a write', () => {
    expect(answers.size).toBe(OPERATIONS.length + 1);
    for (const [target, answer] of answers) {
      expect({ target, body: answer.body }).toMatchObject({
        target,
        body: expect.stringContaining('the service is busy'),
      });
    }
  });
});

describe('a webhook’s URL', () => {
  // One change runs at a time.
  const turns = new Turns(4);
  const api = useApi({ turns });

  it.each(['POST', 'PATCH'])(
    'is checked in no turn of the others’ changes, and stored in one, at %s',
    async (method) => {
      const { account, key } = await api.openKey();
      const url = 'https://shelter.example';
      const { webhook } = await api.application.createWebhook.execute(byOperator({ accountId: account.id, url }));
      let answer: (url: string) => void = () => undefined;
      const asked = jest.spyOn(api.webhookSender, 'check');
      asked.mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)));
      const path = method === 'POST' ? '/v1/webhooks' : `/v1/webhooks/${webhook.id}`;
      const headers = { ...bearer(key), 'Content-Type': 'application/json' };
      const response = request(api, path, { method, headers, body: `{"url":"${url}/new"}` });
      await until(() => asked.mock.calls.length === 1);
      let end: () => void = () => undefined;
      const taken = turns.writes.tryRun(bob, () => new Promise<void>((resolve) => (end = resolve)));
      expect(taken).toBeDefined();
      answer(`${url}/new`);
      const stored = await response;
      end();
      asked.mockRestore();
      expectError(stored, 503, 'service_unavailable');
    },
  );
});

describe('a request that its own account keeps waiting', () => {
  const turns = new Turns(4);
  const metrics = new ApiMetrics(() => IDLE, OPERATIONS);
  const api = useApi({ turns, metrics });

  it('is 429 too_many_at_once: it counts as one, and has the limits of any answer', async () => {
    const { account, key } = await api.openKey();
    let end: () => void = () => undefined;
    void turns.writes.run(account, () => new Promise<void>((resolve) => (end = resolve)));
    turns.writes.run(account, () => new Promise(() => undefined)).catch(() => undefined);
    const refused = changePet(api, 1, { name: 'Luna' }, bearer(key));
    await until(() => turns.waitingCount === 2);
    end();
    const answer = await refused;
    expectError(answer, 429, 'too_many_at_once');
    const next = await get(api, '/v1/pets', key);
    expect([answer, next].map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['999', '998']);
    expect(answer.headers['retry-after']).toBe('1');
    const { body } = await metrics.page();
    expect(body).toContain('adoption_store_operation_requests_total{operation="changePet",deprecated="false"} 1\n');
    expect(body).toContain('adoption_store_errors_total{operation="changePet",code="too_many_at_once"} 1\n');
  });
});
