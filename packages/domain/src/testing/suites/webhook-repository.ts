import { type Account, decideScopes } from '../../accounts/account.js';
import type { Actor } from '../../accounts/authority.js';
import { decideReset } from '../../accounts/credentials.js';
import { HOUR, later } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import {
  decideCreation,
  decidePing,
  decideRemoval,
  decideSecretRotation,
  decideWebhookChange,
  MOST_WEBHOOKS,
  type StoredWebhook,
  type Webhook,
  type WebhookFields,
  type WebhookId,
  type WebhookState,
} from '../../webhooks/webhook.js';
import type { WebhookRepository } from '../../webhooks/webhook-repository.js';
import {
  addKey,
  atOnce,
  byOperator,
  changePassword,
  closeAccount,
  mailLink,
  NOON,
  openWithPassword,
  outcomes,
  REFUSAL,
  revokeKey,
  stateOf,
  Unique,
} from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'accountMails' | 'accounts' | 'apiKeys' | 'credentials' | 'webhooks';

/** A webhook of which no two are the same. */
export function newWebhook(
  { id }: Pick<Account, 'id'>,
  unique: Unique,
  fields: Partial<WebhookFields> = {},
): StoredWebhook {
  const name = unique.name();
  return {
    ...{ id: `whk_${name}` as WebhookId, accountId: id, url: `https://${name}.example.com` },
    ...{ types: undefined, description: undefined, status: 'enabled', recoveringSince: undefined },
    ...{ createdAt: NOON, updatedAt: NOON, ...fields },
    secrets: { current: `whsec_${unique.hash()}` },
  };
}

const shown = ({ secrets, ...webhook }: StoredWebhook): Webhook => webhook;

/** The guarantees of every `WebhookRepository`. */
export function webhookRepositorySuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, beforeAll, afterAll, expect } = framework;
  describe(`a webhook repository (${name})`, () => {
    const unique = new Unique();
    let adapters: Opened<Needed>;
    let webhooks: WebhookRepository;
    let account: Account;
    beforeAll(async () => {
      adapters = await open();
      webhooks = adapters.ports.webhooks;
      account = await openWithPassword(adapters.ports.credentials, unique);
    });
    afterAll(() => adapters.close());

    const add = async (fields?: Partial<WebhookFields>, owner = account) => {
      const webhook = newWebhook(owner, unique, fields);
      await webhooks.add(byOperator({ accountId: owner.id }), () => webhook);
      return webhook;
    };
    const stored = async (webhook: Webhook) =>
      (await stateOf<WebhookState<StoredWebhook>>((refuse) => webhooks.change(byOperator(webhook), refuse))).webhook;
    const isGone = async ({ accountId, id }: Webhook) => (await webhooks.findById(accountId, id)) === undefined;
    const reset = async (owner: Account) => {
      const link = unique.link(owner);
      await mailLink(adapters.ports, 'reset', link);
      await adapters.ports.credentials.follow('reset', link.tokenHash, (state) =>
        decideReset(state, { passwordHash: 'next' }, NOON),
      );
    };
    /** Adds a webhook if the actor may. */
    const addBy = (actor: Actor, { id: accountId }: Account) => {
      const webhook = newWebhook({ id: accountId }, unique);
      return webhooks.add({ accountId, actor }, (state) => decideCreation(state, { actor, webhook }, NOON));
    };
    /** Every change of a webhook, if the actor may. */
    const changesBy = (actor: Actor, { accountId, id }: Webhook) => {
      const command = { accountId, id, actor };
      const edit = { ...command, change: { description: 'other' } };
      return [
        () => webhooks.change(command, (state) => decideWebhookChange(state, edit, NOON)),
        () =>
          webhooks.remove(command, (state) => {
            decideRemoval(state, command, NOON);
          }),
        () => webhooks.lock(command, async (state) => decidePing(state, command, NOON)),
      ];
    };

    it('stores and returns a webhook, whose secrets only a change sees', async () => {
      const fields = { types: ['order.placed', 'pet.added'], description: ' Łuna 🐈 ', status: 'disabled' } as const;
      for (const webhook of [newWebhook(account, unique), newWebhook(account, unique, fields)]) {
        expect(await webhooks.add(byOperator({ accountId: account.id }), () => webhook)).toEqual(shown(webhook));
        expect(await webhooks.findById(account.id, webhook.id)).toEqual(shown(webhook));
        expect(await stored(webhook)).toEqual(webhook);
      }
    });

    it('lists an account’s own, the oldest first, and finds no others', async () => {
      const [owner, other] = [await openWithPassword(adapters.ports.credentials, unique), account];
      const added = [await add({}, owner), await add({}, owner)];
      expect(await webhooks.list(owner.id)).toEqual(added.map(shown));
      const strange = [
        '',
        'whk_\0',
        '\ud800',
        'w'.repeat(10_000),
        ...(await webhooks.list(other.id)).map(({ id }) => id),
      ];
      for (const id of strange as WebhookId[]) {
        expect(await webhooks.findById(owner.id, id)).toBeUndefined();
        const command = byOperator({ accountId: owner.id, id });
        for (const asked of [
          await stateOf((refuse) => webhooks.change(command, refuse)),
          await stateOf((refuse) => webhooks.remove(command, refuse)),
          await stateOf((refuse) => webhooks.lock(command, refuse)),
        ])
          expect(asked).toEqual({ account: owner, key: undefined, webhook: undefined });
      }
    });

    it('adds no more than the account may have, however many callers race', async () => {
      const owner = await openWithPassword(adapters.ports.credentials, unique);
      const adding = Array.from({ length: MOST_WEBHOOKS + 5 }, () => addBy('operator', owner));
      const added = await Promise.allSettled(adding);
      expect(outcomes(added).values).toHaveLength(MOST_WEBHOOKS);
      for (const reason of outcomes(added).reasons as object[])
        expect(reason).toMatchObject({ code: 'too_many_webhooks' });
      expect(await webhooks.list(owner.id)).toHaveLength(MOST_WEBHOOKS);
    });

    it('stores what each of several changes makes of the one before, and nothing of a refused one', async () => {
      const { id, ...webhook } = await add({ types: ['pet.added'], description: 'old' });
      const command = byOperator({ accountId: account.id, id });
      const at = later(NOON, HOUR);
      const change = {
        url: 'https://new.example.com',
        types: undefined,
        description: undefined,
        status: 'disabled',
      } as const;
      await atOnce(2, (index) =>
        index === 0
          ? webhooks.change(command, (state) => decideWebhookChange(state, { ...command, change }, at))
          : webhooks.change(command, (state) => decideSecretRotation(state, { ...command, secret: 'whsec_b' }, at)),
      );
      const previous = { secret: webhook.secrets.current, until: later(at, 24 * HOUR) };
      const changed = { ...webhook, ...change, id, updatedAt: at, secrets: { current: 'whsec_b', previous } };
      expect(await stored(changed)).toEqual(changed);
      await expect(
        webhooks.remove(command, () => {
          throw REFUSAL;
        }),
      ).rejects.toBe(REFUSAL);
      expect(await stored(changed)).toEqual(changed);
    });

    it('forgets what is removed, and all of an account that is closed or that its owner takes over', async () => {
      const { credentials } = adapters.ports;
      const [removed, kept] = [await add(), await add()];
      await webhooks.remove(byOperator(removed), ({ webhook }) => {
        expect(webhook).toEqual(shown(removed));
      });
      expect([await isGone(removed), await isGone(kept)]).toEqual([true, false]);

      const [closed, taken] = [
        await openWithPassword(credentials, unique),
        await openWithPassword(credentials, unique),
      ];
      const theirs = [await add({}, closed), await add({}, taken)];
      await closeAccount(adapters.ports, closed);
      await reset(taken);
      expect([...(await Promise.all(theirs.map(isGone))), await isGone(kept)]).toEqual([true, true, false]);
      const later = await add({}, taken);
      // The address is proven by now.
      await reset(taken);
      expect(await isGone(later)).toBe(false);
      for (const id of [closed.id, INT64_MAX as Account['id']])
        expect(await stateOf((refuse) => webhooks.add(byOperator({ accountId: id }), refuse))).toMatchObject({
          account: undefined,
        });
    });

    it('decides on the actor’s account and key as they are stored, however recently they changed', async () => {
      const { accounts, apiKeys, credentials } = adapters.ports;
      const owner = await openWithPassword(credentials, unique);
      const webhook = await add({}, owner);
      const key = await addKey(adapters.ports, unique.key(owner));
      const [byKey, byPerson] = [{ keyId: key.id }, { credentialVersion: owner.credentialVersion }];
      const asked = (actor: Actor) => stateOf((refuse) => webhooks.lock({ ...shown(webhook), actor }, refuse));
      const state = { account: owner, key: undefined, webhook: shown(webhook) };
      expect(await asked(byKey)).toEqual({ ...state, key });
      expect(await asked(byPerson)).toEqual(state);
      const foreign = await addKey(adapters.ports, unique.key(account));
      expect(await asked({ keyId: foreign.id })).toEqual(state);
      const expectRefused = async (actor: Actor, code: string) => {
        for (const attempt of [() => addBy(actor, owner), ...changesBy(actor, webhook)])
          await expect(attempt()).rejects.toMatchObject({ code });
      };
      await expectRefused({ keyId: foreign.id }, 'invalid_api_key');
      // The key is in the cache from now on.
      await apiKeys.findByHash(key.hash);
      await accounts.change(owner.email, (stored) => decideScopes(stored, { ...owner, scopes: ['pets:read'] }));
      await expectRefused(byKey, 'insufficient_scope');
      await expectRefused(byPerson, 'insufficient_scope');
      await accounts.change(owner.email, (stored) => decideScopes(stored, { ...owner, scopes: undefined }));
      await revokeKey(adapters.ports, key.id, NOON);
      await expectRefused(byKey, 'revoked_api_key');
      await changePassword(adapters.ports, owner);
      await expectRefused(byPerson, 'signed_out');
      expect(await webhooks.list(owner.id)).toEqual([shown(webhook)]);
    });

    it('keeps no webhook of a stranger, however many are added while the owner proves the address by a reset', async () => {
      for (let round = 0; round < 3; round += 1) {
        const owner = await openWithPassword(adapters.ports.credentials, unique);
        const key = await addKey(adapters.ports, unique.key(owner));
        const actors = [{ keyId: key.id }, { credentialVersion: owner.credentialVersion }];
        const adding = atOnce(8, (index) => addBy(actors[index % 2] ?? 'operator', owner).catch(() => undefined));
        await reset(owner);
        await adding;
        expect(await webhooks.list(owner.id)).toEqual([]);
      }
    });
  });
}
