import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { instant, MINUTE } from '@adoption-store/domain';
import { type Infrastructure, openInfrastructure } from '@adoption-store/infrastructure';
import { ask } from '@adoption-store/test-support';
import { type Done, explains, type Pet, type State, type Step, textOf } from '../support/animal-history.js';
import type { HttpClient, Received } from '../support/http-client.js';
import { type Replicas, startReplicas } from '../support/replicas.js';

/** Animals with a race. More take longer and prove more. */
const ROUNDS = Number(process.env['ANIMAL_ROUNDS'] ?? 60);
const STATUSES = ['available', 'available', 'available', 'pending', 'sold'] as const;

describe('two replicas on one PostgreSQL', () => {
  let replicas: Replicas;
  let store: Infrastructure;

  beforeAll(async () => {
    replicas = await startReplicas();
    store = await openInfrastructure({ databaseUrl: replicas.databaseUrl, poolSize: 2 });
  });

  afterAll(async () => {
    await store.close();
    await replicas.close();
  });

  const pick = <Value>(values: readonly Value[]) => values[Math.floor(Math.random() * values.length)] as Value;
  const send = (party: number, method: string, path: string, options?: Parameters<HttpClient['send']>[2]) =>
    replicas.client.send(method, `${replicas.originOf(party)}/v1${path}`, options);
  const petOf = ({ text }: Received) => JSON.parse(text) as Pet;
  const idOf = ({ text }: Received) => (JSON.parse(text) as { readonly id: number }).id;

  async function expireAll(): Promise<readonly number[]> {
    const now = instant(Date.now() + MINUTE);
    const expired = await store.ports.orders.expire({ placedUntil: now, at: now, limit: 1_000 });
    return expired.map(({ id }) => Number(id));
  }

  /** A new animal, in half the rounds with an order. No other order is placed. */
  async function begin(): Promise<{ readonly state: State; readonly tag: string }> {
    await expireAll();
    const body = JSON.stringify({ name: 'Luna', categoryId: 1, status: pick(STATUSES) });
    const pet = petOf(await send(0, 'POST', '/pets', { body }));
    const isOrdered = pet.status === 'available' && Math.random() < 0.5;
    const orders = new Map<number, string>();
    if (isOrdered) {
      const order = await send(0, 'POST', '/store/orders', { body: `{"petId":${pet.id}}` });
      orders.set(idOf(order), 'placed');
    }
    const { headers, text } = await send(1, 'GET', `/pets/${pet.id}`);
    return { state: { pet: JSON.parse(text) as Pet, orders }, tag: String(headers['etag']) };
  }

  function draw({ pet, orders }: State, party: number): Step {
    const wanted = Math.random() < 0.5 ? pet : undefined;
    const [orderId] = orders.keys();
    const kinds = [
      'patch',
      'patch',
      'delete',
      'place',
      ...(orderId === undefined ? [] : (['complete', 'cancel'] as const)),
    ];
    // Two expiries would share what is due, which no order of the two explains.
    const kind = party === 0 && Math.random() < 0.4 ? 'expire' : pick(kinds);
    switch (kind) {
      case 'patch': {
        const status = pick([undefined, 'available', 'pending', 'sold']);
        // The name identifies the change.
        return { kind, change: { name: `Luna ${party}`, ...(status !== undefined && { status }) }, wanted };
      }
      case 'delete':
        return { kind, wanted };
      case 'complete':
      case 'cancel':
        return { kind, orderId: orderId ?? 0 };
      default:
        return { kind: kind === 'expire' ? 'expire' : 'place' };
    }
  }

  async function take(step: Step, party: number, petId: number, tag: string): Promise<Done> {
    const headers = 'wanted' in step && step.wanted !== undefined ? { 'if-match': tag } : {};
    switch (step.kind) {
      case 'patch': {
        const response = await send(party, 'PATCH', `/pets/${petId}`, { body: JSON.stringify(step.change), headers });
        return doneOf(step, response, response.status === 200 ? petOf(response) : undefined);
      }
      case 'delete':
        return doneOf(step, await send(party, 'DELETE', `/pets/${petId}`, { headers }));
      case 'place': {
        const response = await send(party, 'POST', '/store/orders', { body: `{"petId":${petId}}` });
        return doneOf(step, response, response.status === 201 ? idOf(response) : undefined);
      }
      case 'expire': {
        return { step, outcome: '200', result: await expireAll() };
      }
      default:
        return doneOf(step, await send(party, 'POST', `/store/orders/${step.orderId}/${step.kind}`));
    }
  }

  function doneOf(step: Step, response: Received, result?: Done['result']): Done {
    const { status, text } = response;
    return {
      step,
      outcome: status < 300 ? String(status) : (JSON.parse(text) as { readonly code: string }).code,
      result: text === '' ? undefined : result,
    };
  }

  async function look(petId: number): Promise<State> {
    const shown = await send(0, 'GET', `/pets/${petId}`);
    const query = `SELECT id::int, status FROM orders WHERE animal_id = ${petId}`;
    const orders = await ask<{ id: number; status: string }>(replicas.databaseUrl, query);
    return {
      pet: shown.status === 200 ? petOf(shown) : undefined,
      orders: new Map(orders.map(({ id, status }) => [id, status])),
    };
  }

  it(
    `explain each of ${ROUNDS} races of two to eight parties for one animal by an order of single steps`,
    async () => {
      const outcomes = new Map<string, number>();
      for (let round = 0; round < ROUNDS; round += 1) {
        const { state, tag } = await begin();
        const petId = state.pet?.id ?? 0;
        const steps = Array.from({ length: 2 + Math.floor(Math.random() * 7) }, (_, party) => draw(state, party));
        const done = await Promise.all(steps.map((step, party) => take(step, party, petId, tag)));
        const after = await look(petId);
        for (const { step, outcome } of done)
          outcomes.set(`${step.kind} ${outcome}`, (outcomes.get(`${step.kind} ${outcome}`) ?? 0) + 1);
        if (!explains(state, done, after)) {
          const told = JSON.stringify(done, null, 1);
          throw new Error(`no order of these steps explains round ${round}: ${textOf(state)} ${told} ${textOf(after)}`);
        }
      }
      if (process.env['ANIMAL_ROUNDS'] !== undefined) console.log(Object.fromEntries([...outcomes].sort()));
      // Each kind of step has succeeded and has been refused.
      for (const each of [
        'patch 200',
        'patch precondition_failed',
        'patch order_in_progress',
        'delete 204',
        'place 201',
      ])
        expect(outcomes.get(each) ?? 0).toBeGreaterThan(0);
    },
    60_000 + ROUNDS * 200,
  );
});
