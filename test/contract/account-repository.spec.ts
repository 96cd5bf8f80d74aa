import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AccountRepository, FIXED_PLANS, instant, type Plan } from '@adoption-store/domain';
import { type Adapters, everyAdapter } from './adapters.js';

describe.each(everyAdapter)('an account repository (%s)', (_name, open) => {
  let adapters: Adapters;
  let accounts: AccountRepository;
  beforeAll(async () => {
    adapters = await open();
    accounts = adapters.ports.accounts;
  });
  afterAll(() => adapters.close());

  const createdAt = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));

  it.each<Plan>([
    ...FIXED_PLANS.map((name) => ({ name })),
    { name: 'enterprise', perMinute: 5, perDay: 2_147_483_647 },
  ])('keeps an account on the plan %j', async (plan) => {
    const email = `${plan.name}@example.com`;
    const opened = await accounts.open({ email, plan, createdAt });
    expect(opened).toEqual({ id: opened.id, email, plan, createdAt, credentialVersion: 0, provenAt: undefined });
    expect(typeof opened.id).toBe('bigint');
    expect(await accounts.findByEmail(email)).toEqual(opened);
    expect(await accounts.findById(opened.id)).toEqual(opened);
  });

  it('returns undefined for an address without an account', async () => {
    expect(await accounts.findByEmail('nobody@example.com')).toBeUndefined();
  });

  it('lists all accounts, ascending by id', async () => {
    const added = [];
    for (const name of ['b', 'a']) {
      const email = `${name}-${randomUUID()}@example.com`;
      added.push(await accounts.open({ email, plan: { name: 'free' }, createdAt }));
    }
    const all = await accounts.list();
    expect(all.slice(-2)).toEqual(added);
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).sort((one, other) => (one < other ? -1 : 1)));
  });

  it('lists a part of the accounts, by start and size', async () => {
    const added = [];
    for (let index = 0; index < 4; index += 1) {
      added.push(await accounts.open({ email: `${randomUUID()}@example.com`, plan: { name: 'free' }, createdAt }));
    }
    expect(await accounts.list({ after: added[0]?.id, limit: 2 })).toEqual(added.slice(1, 3));
    expect(await accounts.list({ after: added[0]?.id })).toEqual(added.slice(1));
    expect(await accounts.list({ after: added[3]?.id, limit: 2 })).toEqual([]);
  });

  it('leaves an existing account unchanged', async () => {
    const first = await accounts.open({ email: 'twice@example.com', plan: { name: 'pro' }, createdAt });
    const second = await accounts.open({ email: 'twice@example.com', plan: { name: 'free' }, createdAt: instant(1) });
    expect(second).toEqual(first);
  });

  it.each<[Plan, Plan]>([
    [{ name: 'free' }, { name: 'pro' }],
    [{ name: 'pro' }, { name: 'enterprise', perMinute: 7, perDay: 70 }],
    [
      { name: 'enterprise', perMinute: 7, perDay: 70 },
      { name: 'enterprise', perMinute: 8, perDay: 80 },
    ],
    [{ name: 'enterprise', perMinute: 8, perDay: 80 }, { name: 'business' }],
  ])('changes the plan %j to %j, and nothing else', async (before, after) => {
    const email = `${randomUUID()}@example.com`;
    const account = await accounts.open({ email, plan: before, createdAt });
    const bystander = await accounts.open({ email: `other-${email}`, plan: before, createdAt });
    expect(await accounts.changePlan(email, after)).toEqual({ ...account, plan: after });
    expect(await accounts.findByEmail(email)).toEqual({ ...account, plan: after });
    expect(await accounts.findByEmail(bystander.email)).toEqual(bystander);
  });

  it('changes no plan, and opens no account, if there is none', async () => {
    expect(await accounts.changePlan('nobody@example.com', { name: 'pro' })).toBeUndefined();
    expect(await accounts.findByEmail('nobody@example.com')).toBeUndefined();
  });

  it('leaves an account on one complete plan, however many changes race', async () => {
    const email = `${randomUUID()}@example.com`;
    await accounts.open({ email, plan: { name: 'free' }, createdAt });
    const plans = Array.from({ length: 30 }, (_, index): Plan =>
      index % 3 === 0 ? { name: 'pro' } : { name: 'enterprise', perMinute: index, perDay: 10 * index },
    );
    await Promise.all(plans.map((plan) => accounts.changePlan(email, plan)));
    expect(plans).toContainEqual((await accounts.findByEmail(email))?.plan);
  });

  it('opens one account for one address, however many calls race', async () => {
    const opened = await Promise.all(
      Array.from({ length: 50 }, () => accounts.open({ email: 'race@example.com', plan: { name: 'free' }, createdAt })),
    );
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
  });
});
