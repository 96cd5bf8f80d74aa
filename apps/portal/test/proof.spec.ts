import { describe, expect, it } from '@jest/globals';
import { DAY } from '@adoption-store/domain';
import { until } from '@adoption-store/test-support';
import { useApi } from './support/portal-api.js';
import { usePortal, type Visitor } from './support/portal-visitor.js';

const OWNERS = 'the owner’s own pass phrase';
const portal = usePortal();
const api = useApi(portal);

/** The mails with proofs to that address. */
const proofsTo = (email: string) => portal.mailer.proofs.filter((mail) => mail.email === email);

async function answerTo(key: string, path = '/v1/pets', init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(api.origin + path, { ...init, headers });
  return { status: response.status, body: (await response.json()) as { readonly code?: string } };
}

/** Returns the token. The mail is sent after the response. */
async function resetMailedTo(email: string): Promise<string> {
  const visitor = portal.visitor();
  const before = portal.mailer.resets.length;
  await visitor.get('/forgotten-password');
  await visitor.post('/forgotten-password', { email });
  await until(() => portal.mailer.resets.slice(before).some((mail) => mail.email === email));
  return portal.mailer.resets.findLast((mail) => mail.email === email)?.token ?? '';
}

async function reset(email: string, password = OWNERS): Promise<Visitor> {
  const owner = portal.visitor();
  const token = await resetMailedTo(email);
  await owner.get('/reset-password');
  expect((await owner.post('/reset-password', { token, password })).status).toBe(303);
  await owner.get('/sign-in');
  expect((await owner.post('/sign-in', { email, password })).status).toBe(303);
  return owner;
}

describe('an account that a stranger opened with another person’s address', () => {
  it('belongs only to the owner after a password reset: earlier keys, sessions and links are void', async () => {
    const stranger = await portal.signedUp();
    const key = await stranger.issueKey();
    expect((await answerTo(key)).status).toBe(200);
    const owner = await reset(stranger.email);
    expect(await answerTo(key)).toMatchObject({ status: 401, body: { code: 'revoked_api_key' } });
    expect((await stranger.get('/keys')).headers.get('location')).toBe('/sign-in');
    const { text } = await owner.get('/account');
    expect(text).not.toContain('Not confirmed');
    const [mail] = proofsTo(stranger.email);
    await owner.get('/confirm-address');
    expect((await owner.post('/confirm-address', { token: mail?.token ?? '' })).status).toBe(422);
  });

  it('never reads or cancels the owner’s orders with an earlier key, even one in constant use', async () => {
    const stranger = await portal.signedUp();
    const key = await stranger.issueKey();
    const owner = await reset(stranger.email);
    const own = await owner.issueKey();
    const animal = { name: 'Luna', categoryId: 1 };
    const added = await answerTo(own, '/v1/pets', { method: 'POST', body: JSON.stringify(animal) });
    const placed = await answerTo(own, '/v1/store/orders', {
      method: 'POST',
      body: JSON.stringify({ petId: (added.body as { id?: number }).id }),
    });
    expect(placed.status).toBe(201);
    const { id } = placed.body as { id?: number };
    expect((await answerTo(key, `/v1/store/orders/${id}`)).status).toBe(401);
    expect((await answerTo(key, `/v1/store/orders/${id}/cancel`, { method: 'POST' })).status).toBe(401);
    expect((await answerTo(own, `/v1/store/orders/${id}`)).body).toMatchObject({ status: 'placed' });
  });

  it('loses nothing by a second reset', async () => {
    const { email } = await portal.signedUp();
    const owner = await reset(email);
    const key = await owner.issueKey();
    await reset(email, 'yet another pass phrase');
    expect((await answerTo(key)).status).toBe(200);
  });
});

describe('an address', () => {
  it('is unproven until the form of the mailed link is sent; opening the page proves nothing', async () => {
    const visitor = await portal.signedUp();
    const [mail, ...others] = proofsTo(visitor.email);
    expect(others).toEqual([]);
    const reader = portal.visitor();
    expect((await reader.get('/confirm-address')).status).toBe(200);
    expect((await visitor.get('/account')).text).toContain('Not confirmed');
    expect((await visitor.get('/keys')).text).toContain('not confirmed');
    const { status, headers } = await reader.post('/confirm-address', { token: ` ${mail?.token ?? ''}\n` });
    expect([status, headers.get('location')]).toEqual([303, '/sign-in']);
    expect((await visitor.get('/account')).text).not.toContain('Not confirmed');
    expect((await visitor.get('/keys')).text).not.toContain('not confirmed');
    await reader.get('/confirm-address');
    expect((await reader.post('/confirm-address', { token: mail?.token ?? '' })).status).toBe(422);
  });

  it('that was proven by the link keeps its keys after a password reset', async () => {
    const visitor = await portal.signedUp();
    const key = await visitor.issueKey();
    await visitor.get('/confirm-address');
    const token = proofsTo(visitor.email)[0]?.token ?? '';
    expect((await visitor.post('/confirm-address', { token })).headers.get('location')).toBe('/account');
    await reset(visitor.email);
    expect((await answerTo(key)).status).toBe(200);
  });

  it('is not proven by an invented, empty or old token, or by another account’s reset', async () => {
    const visitor = await portal.signedUp();
    const { email } = await portal.signedUp();
    const token = proofsTo(visitor.email)[0]?.token ?? '';
    const resetting = await resetMailedTo(email);
    for (const wrong of ['', 'made-up', resetting]) {
      await visitor.get('/confirm-address');
      expect((await visitor.post('/confirm-address', { token: wrong })).status).toBe(422);
    }
    portal.clock.advance(DAY);
    const reader = portal.visitor();
    await reader.get('/confirm-address');
    expect((await reader.post('/confirm-address', { token })).status).toBe(422);
    expect(
      (await portal.application.listAccounts.execute()).find((each) => each.email === email)?.provenAt,
    ).toBeUndefined();
  });

  it('gets at most three links a day', async () => {
    const visitor = await portal.signedUp();
    for (let click = 0; click < 5; click += 1) {
      await visitor.get('/account');
      expect((await visitor.post('/account/proof')).headers.get('location')).toBe('/account');
      expect((await visitor.get('/account')).text).toContain(
        click < 2 ? 'sent you another link' : 'No e-mail was sent',
      );
    }
    expect(proofsTo(visitor.email)).toHaveLength(3);
    await visitor.get('/confirm-address');
    await visitor.post('/confirm-address', { token: proofsTo(visitor.email)[2]?.token ?? '' });
    await visitor.get('/account');
    await visitor.post('/account/proof');
    expect(proofsTo(visitor.email)).toHaveLength(3);
  });
});

it('issues no key to a session whose password was reset while its form was in progress', async () => {
  const { email } = await portal.signedUp();
  const before = (await portal.application.listAccounts.execute()).find((each) => each.email === email);
  if (before === undefined) throw new Error('there is no account');
  const owner = await reset(email);
  const { id: accountId, credentialVersion } = before;
  await expect(portal.application.issueKey.execute({ accountId, credentialVersion })).rejects.toMatchObject({
    code: 'not_found',
  });
  expect(await owner.issueKey()).not.toBe('');
});
