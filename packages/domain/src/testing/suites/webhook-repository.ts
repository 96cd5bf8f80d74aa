import type { Account } from '../../accounts/account.js';
import { decideReset } from '../../accounts/credentials.js';
import { HOUR, later } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import {
  decideCreation,
  decideSecretRotation,
  decideWebhookChange,
  MOST_WEBHOOKS,
  type StoredWebhook,
  type Webhook,
  type WebhookFields,
  type WebhookId,
} from '../../webhooks/webhook.js';
import type { WebhookRepository } from '../../webhooks/webhook-repository.js';
import {
  atOnce,
  closeAccount,
  mailLink,
  NOON,
  openWithPassword,
  outcomes,
  REFUSAL,
  stateOf,
  Unique,
} from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'accountMails' | 'accounts' | 'credentials' | 'webhooks';

/** A webhook of which no two are the same. */
export function newWebhook(
  { id }: Pick<Account, 'id'>,
  unique: Unique,
  fields: Partial<WebhookFields> = {},
): StoredWebhook {
  const name = unique.name();
  return {
    ...{ id: `whk_${name}` as WebhookId, accountId: id, url: `https://${name}.example.com` },
    ...{ types: undefined, description: undefined, status: 'enabled', createdAt: NOON, updatedAt: NOON, ...fields },
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
      await webhooks.add(owner.id, () => webhook);
      return webhook;
    };
    const stored = ({ accountId, id }: Webhook) => stateOf((refuse) => webhooks.change(accountId, id, refuse));
    const isGone = async ({ accountId, id }: Webhook) => (await webhooks.findById(accountId, id)) === undefined;

    it('stores and returns a webhook, whose secrets only a change sees', async () => {
      const fields = { types: ['order.placed', 'pet.added'], description: ' Łuna 🐈 ', status: 'disabled' } as const;
      for (const webhook of [newWebhook(account, unique), newWebhook(account, unique, fields)]) {
        expect(await webhooks.add(account.id, () => webhook)).toEqual(shown(webhook));
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
        expect(await stateOf((refuse) => webhooks.change(owner.id, id, refuse))).toBeUndefined();
        expect(await stateOf((refuse) => webhooks.remove(owner.id, id, refuse))).toBeUndefined();
      }
    });

    it('adds no more than the account may have, however many callers race', async () => {
      const owner = await openWithPassword(adapters.ports.credentials, unique);
      const added = await Promise.allSettled(
        Array.from({ length: MOST_WEBHOOKS + 5 }, () =>
          webhooks.add(owner.id, (state) => decideCreation(state, newWebhook(owner, unique))),
        ),
      );
      expect(outcomes(added).values).toHaveLength(MOST_WEBHOOKS);
      for (const reason of outcomes(added).reasons as object[])
        expect(reason).toMatchObject({ code: 'too_many_webhooks' });
      expect(await webhooks.list(owner.id)).toHaveLength(MOST_WEBHOOKS);
    });

    it('stores what each of several changes makes of the one before, and nothing of a refused one', async () => {
      const { id, ...webhook } = await add({ types: ['pet.added'], description: 'old' });
      const command = { accountId: account.id, id };
      const at = later(NOON, HOUR);
      const change = {
        url: 'https://new.example.com',
        types: undefined,
        description: undefined,
        status: 'disabled',
      } as const;
      await atOnce(2, (index) =>
        index === 0
          ? webhooks.change(account.id, id, (state) => decideWebhookChange(state, { ...command, change }, at))
          : webhooks.change(account.id, id, (state) =>
              decideSecretRotation(state, { ...command, secret: 'whsec_b' }, at),
            ),
      );
      const previous = { secret: webhook.secrets.current, until: later(at, 24 * HOUR) };
      const changed = { ...webhook, ...change, id, updatedAt: at, secrets: { current: 'whsec_b', previous } };
      expect(await stored(changed)).toEqual(changed);
      await expect(
        webhooks.remove(account.id, id, () => {
          throw REFUSAL;
        }),
      ).rejects.toBe(REFUSAL);
      expect(await stored(changed)).toEqual(changed);
    });

    it('forgets what is removed, and all of an account that is closed or that its owner takes over', async () => {
      const { credentials } = adapters.ports;
      const [removed, kept] = [await add(), await add()];
      await webhooks.remove(account.id, removed.id, (webhook) => {
        expect(webhook).toEqual(shown(removed));
      });
      expect([await isGone(removed), await isGone(kept)]).toEqual([true, false]);

      const [closed, taken] = [
        await openWithPassword(credentials, unique),
        await openWithPassword(credentials, unique),
      ];
      const theirs = [await add({}, closed), await add({}, taken)];
      await closeAccount(adapters.ports, closed);
      const reset = async () => {
        const link = unique.link(taken);
        await mailLink(adapters.ports, 'reset', link);
        await credentials.follow('reset', link.tokenHash, (state) =>
          decideReset(state, { passwordHash: 'next' }, NOON),
        );
      };
      await reset();
      expect([...(await Promise.all(theirs.map(isGone))), await isGone(kept)]).toEqual([true, true, false]);
      const later = await add({}, taken);
      // The address is proven by now.
      await reset();
      expect(await isGone(later)).toBe(false);
      for (const id of [closed.id, INT64_MAX as Account['id']])
        expect(await stateOf((refuse) => webhooks.add(id, refuse))).toMatchObject({ account: undefined });
    });
  });
}
