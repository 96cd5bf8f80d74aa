import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AccountRepository, instant, type Plan } from '@adoption-store/domain';
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
    { name: 'free' },
    { name: 'pro' },
    { name: 'business' },
    { name: 'enterprise', perMinute: 5, perDay: 2_147_483_647 },
  ])('keeps an account on the plan %j', async (plan) => {
    const email = `${plan.name}@example.com`;
    const opened = await accounts.open({ email, plan, createdAt });
    expect(opened).toEqual({ id: opened.id, email, plan, createdAt });
    expect(typeof opened.id).toBe('bigint');
    expect(await accounts.findByEmail(email)).toEqual(opened);
  });

  it('says undefined of an address without an account', async () => {
    expect(await accounts.findByEmail('nobody@example.com')).toBeUndefined();
  });

  it('leaves an account that is there as it is', async () => {
    const first = await accounts.open({ email: 'twice@example.com', plan: { name: 'pro' }, createdAt });
    const second = await accounts.open({ email: 'twice@example.com', plan: { name: 'free' }, createdAt: instant(1) });
    expect(second).toEqual(first);
  });

  it('opens one account for one address, however many race for it', async () => {
    const opened = await Promise.all(
      Array.from({ length: 50 }, () => accounts.open({ email: 'race@example.com', plan: { name: 'free' }, createdAt })),
    );
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
  });
});
