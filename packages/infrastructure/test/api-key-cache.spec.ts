import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Application,
  type Clock,
  createApplication,
  describeScopes,
  generateKeyText,
  HOUR,
  instant,
  type Ports,
  SECOND,
} from '@adoption-store/domain';
import { ask, createDatabase, DatabaseGate, type TestDatabase, until } from '@adoption-store/test-support';
import type pg from 'pg';
import { openInfrastructure } from '../src/open-infrastructure.js';

type Instance = Application & { readonly ports: Ports };

const EMAIL = 'dev@example.com';
let database: TestDatabase;
let closers: (() => Promise<void>)[];

beforeEach(async () => {
  database = await createDatabase();
  closers = [() => database.drop()];
});
afterEach(async () => {
  for (const close of closers.reverse()) await close();
});

/** @param skew milliseconds by which the instance's clock is ahead. */
async function openInstance(databaseUrl = database.url, skew = 0): Promise<Instance> {
  const infrastructure = await openInfrastructure({ databaseUrl, poolSize: 10 });
  closers.push(() => infrastructure.close());
  const clock: Clock = { now: () => instant(Date.now() + skew) };
  const ports = { ...infrastructure.ports, clock };
  return { ...createApplication(ports), ports };
}

async function issue({ openAccount, issueKey }: Instance) {
  const account = await openAccount.execute({ email: EMAIL });
  return issueKey.execute({ accountId: account.id });
}

const query = <Row extends pg.QueryResultRow>(text: string) => ask<Row>(database.url, text);

/** The plan, and what the account is held to if it isn't all; or the code of the error. */
const outcomeOf = ({ authenticate }: Instance, text: string): Promise<string> =>
  authenticate.execute(text).then(
    ({ account: { plan, scopes } }) => (scopes === undefined ? plan.name : `${plan.name}, ${describeScopes(scopes)}`),
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  );

/** Repeats until the outcome is there. Returns the milliseconds until the last attempt without it. */
async function lastInVain(instance: Instance, text: string, outcome: string): Promise<number> {
  const start = performance.now();
  for (let inVain = 0; ;) {
    const asked = performance.now() - start;
    if ((await outcomeOf(instance, text)) === outcome) return inVain;
    if (asked > 20 * SECOND) throw new Error(`it has not become ${outcome}`);
    inVain = asked;
    await delay(5);
  }
}

describe('a change of one instance takes effect on another within a second:', () => {
  let one: Instance;
  let other: Instance;
  beforeEach(async () => {
    [one, other] = await Promise.all([openInstance(), openInstance()]);
  });

  it('a revocation', async () => {
    const { key, text } = await issue(one);
    expect(await outcomeOf(other, text)).toBe('free');
    await one.revokeKey.execute({ id: key.id });
    expect(await lastInVain(other, text, 'revoked_api_key')).toBeLessThan(SECOND);
  });

  it('a key that is disabled, and enabled again', async () => {
    const { key, text } = await issue(one);
    expect(await outcomeOf(other, text)).toBe('free');
    await one.disableKey.execute({ id: key.id, isDisabled: true });
    expect(await lastInVain(other, text, 'disabled_api_key')).toBeLessThan(SECOND);
    await one.disableKey.execute({ id: key.id, isDisabled: false });
    expect(await lastInVain(other, text, 'free')).toBeLessThan(SECOND);
  });

  it('a change of plan', async () => {
    const { text } = await issue(one);
    expect(await outcomeOf(other, text)).toBe('free');
    await one.changePlan.execute({ email: EMAIL, plan: { name: 'business' } });
    expect(await lastInVain(other, text, 'business')).toBeLessThan(SECOND);
  });

  it('a change of the scopes that the account is held to', async () => {
    const { text } = await issue(one);
    expect(await outcomeOf(other, text)).toBe('free');
    await one.holdToScopes.execute({ email: EMAIL, scopes: ['pets:read', 'orders:read'] });
    expect(await lastInVain(other, text, 'free, pets:read,orders:read')).toBeLessThan(SECOND);
    await one.holdToScopes.execute({ email: EMAIL, scopes: undefined });
    expect(await lastInVain(other, text, 'free')).toBeLessThan(SECOND);
  });

  it('a rotation, of both keys', async () => {
    const old = await issue(one);
    expect(await outcomeOf(other, old.text)).toBe('free');
    const { text } = await one.rotateKey.execute({ id: old.key.id, overlap: 0 });
    expect(await outcomeOf(other, text)).toBe('free');
    expect(await lastInVain(other, old.text, 'expired_api_key')).toBeLessThan(SECOND);
  });

  it('a deleted key', async () => {
    const { key, text } = await issue(one);
    expect(await outcomeOf(other, text)).toBe('free');
    await query(`DELETE FROM api_keys WHERE id = ${key.id}`);
    expect(await lastInVain(other, text, 'invalid_api_key')).toBeLessThan(SECOND);
  });

  it('a new key, even if it was tried before', async () => {
    const account = await one.openAccount.execute({ email: EMAIL });
    const { cryptography, clock, apiKeys } = one.ports;
    const text = generateKeyText('live', cryptography);
    expect(await outcomeOf(other, text)).toBe('invalid_api_key');
    await apiKeys.add({
      accountId: account.id,
      hash: cryptography.sha256(text),
      ending: text.slice(-4),
      name: undefined,
      createdAt: clock.now(),
      scopes: undefined,
      expiresAt: undefined,
    });
    expect(await lastInVain(other, text, 'free')).toBeLessThan(SECOND);
  });
});

describe.each([
  ['an hour behind', -HOUR],
  ['an hour ahead', HOUR],
])('an instance whose clock is %s refuses within a second of the change', (_how, skew) => {
  let one: Instance;
  let other: Instance;
  beforeEach(async () => {
    [one, other] = await Promise.all([openInstance(), openInstance(database.url, skew)]);
  });

  it('a key that was revoked', async () => {
    const { key, text } = await issue(one);
    expect(await outcomeOf(other, text)).toBe('free');
    await one.revokeKey.execute({ id: key.id });
    expect(await lastInVain(other, text, 'revoked_api_key')).toBeLessThan(SECOND);
  });

  it('a key that was rotated without an overlap', async () => {
    const { key, text } = await issue(one);
    expect(await outcomeOf(other, text)).toBe('free');
    await one.rotateKey.execute({ id: key.id, overlap: 0 });
    expect(await lastInVain(other, text, 'expired_api_key')).toBeLessThan(SECOND);
  });

  it('every key of an account that was closed', async () => {
    const password = 'correct horse battery staple';
    const { id: accountId } = await one.signUp.execute({ email: 'owner@example.com', password });
    const { text } = await one.issueKey.execute({ accountId });
    expect(await outcomeOf(other, text)).toBe('free');
    expect(await one.closeAccount.execute({ accountId, password })).toBe(true);
    expect(await lastInVain(other, text, 'revoked_api_key')).toBeLessThan(SECOND);
  });
});

describe('between an instance and its database', () => {
  let gate: DatabaseGate;
  let instance: Instance;
  beforeEach(async () => {
    gate = await DatabaseGate.open(database.url);
    closers.push(async () => {
      gate.shut();
    });
    instance = await openInstance(gate.url);
  });

  it('after a cut every key is refused as unavailable within a second, and recovers by itself', async () => {
    const { text } = await issue(instance);
    const unknown = generateKeyText('live', instance.ports.cryptography);
    expect(await outcomeOf(instance, text)).toBe('free');
    gate.shut();
    expect(await outcomeOf(instance, unknown)).toBe('service_unavailable');
    expect(await lastInVain(instance, text, 'service_unavailable')).toBeLessThan(SECOND);
    expect(await outcomeOf(instance, text)).toBe('service_unavailable');
    await gate.reopen();
    await lastInVain(instance, text, 'free');
    expect(await outcomeOf(instance, unknown)).toBe('invalid_api_key');
  });

  it('a key revoked during a cut is refused from the first answer on', async () => {
    const { key, text } = await issue(instance);
    expect(await outcomeOf(instance, text)).toBe('free');
    gate.shut();
    await lastInVain(instance, text, 'service_unavailable');
    await query(`UPDATE api_keys SET revoked_at = now() WHERE id = ${key.id}`);
    await gate.reopen();
    const outcomes = new Set<string>();
    await until(async () => {
      const outcome = await outcomeOf(instance, text);
      outcomes.add(outcome);
      return outcome === 'revoked_api_key';
    });
    expect(outcomes).not.toContain('free');
  });
});

it('no key text is written to the database', async () => {
  const instance = await openInstance();
  const issued = await issue(instance);
  const rotated = await instance.rotateKey.execute({ id: issued.key.id, overlap: HOUR });
  for (const { text } of [issued, rotated]) await instance.authenticate.execute(text);
  await instance.revokeKey.execute({ id: rotated.key.id });
  const used = () => query(`SELECT FROM api_keys WHERE last_used_at IS NOT NULL`);
  await until(async () => (await used()).length === 2);

  const tables = await query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname !~ '^(pg_|information_schema)'`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) => query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)),
  );
  const everything = rows.flat().map(({ row }) => row);
  expect(everything.join()).toContain(issued.key.hash);
  for (const { text } of [issued, rotated]) {
    expect(everything.join()).not.toContain(text.slice('aas_live_'.length, -10));
    expect(everything.join()).not.toContain(text.slice(0, 20));
  }
});
