import type { Account } from '../../accounts/account.js';
import { decideReset } from '../../accounts/credentials.js';
import { DAY, HOUR, type Instant, later, MINUTE } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import {
  decideCreation,
  decideSecretRotation,
  decideWebhookChange,
  MOST_SECRETS,
  MOST_WEBHOOKS,
  type NewWebhook,
  type Webhook,
  type WebhookFields,
  type WebhookId,
} from '../../webhooks/webhook.js';
import type { AccountWebhook, WebhookRepository } from '../../webhooks/webhook-repository.js';
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

type Needed = 'accountMails' | 'accounts' | 'credentials' | 'webhookDeliveries' | 'webhooks';

/** A webhook of which no two are the same. */
export function newWebhook(
  { id }: Pick<Account, 'id'>,
  unique: Unique,
  fields: Partial<WebhookFields> = {},
): NewWebhook {
  const name = unique.name();
  return {
    ...{ id: `whk_${name}` as WebhookId, accountId: id, url: `https://${name}.example.com` },
    ...{ types: undefined, description: undefined, status: 'enabled', createdAt: NOON, updatedAt: NOON, ...fields },
    secret: `whsec_${unique.hash()}`,
  };
}

const shown = ({ secret, ...webhook }: NewWebhook): Webhook => webhook;

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
    const secretsOf = async ({ id }: Pick<Webhook, 'id'>) => {
      const { webhookDeliveries } = adapters.ports;
      await webhookDeliveries.ping(id, NOON);
      const turn = await webhookDeliveries.takeTurn({ limit: 1, lease: MINUTE });
      if (turn === undefined) throw new Error('nothing is due');
      for (const delivery of turn.deliveries) await webhookDeliveries.settle(delivery, { status: 'sent' });
      await webhookDeliveries.endTurn(turn, 0, (receiver) => ({ end: { ...receiver, pause: 0, isFailing: false } }));
      return turn.secrets;
    };
    const rotate = ({ id, accountId }: Webhook, secret: string, at: Instant) =>
      webhooks.rotate(accountId, id, (state) => decideSecretRotation(state, { accountId, id, secret }, at));
    const isGone = async ({ accountId, id }: Webhook) => (await webhooks.findById(accountId, id)) === undefined;

    it('stores and returns a webhook, whose secret only its deliveries see', async () => {
      const fields = { types: ['order.placed', 'pet.added'], description: ' Łuna 🐈 ', status: 'disabled' } as const;
      for (const webhook of [newWebhook(account, unique), newWebhook(account, unique, fields)]) {
        expect(await webhooks.add(account.id, () => webhook)).toEqual(shown(webhook));
        expect(await webhooks.findById(account.id, webhook.id)).toEqual(shown(webhook));
        expect(await stored(webhook)).toEqual(shown(webhook));
        if (webhook.status === 'enabled')
          expect(await secretsOf(webhook)).toEqual({ current: webhook.secret, past: [] });
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
        expect(await stateOf((refuse) => webhooks.rotate(owner.id, id, refuse))).toBeUndefined();
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
      const webhook = await add({ types: ['pet.added'], description: 'old' });
      const { id } = webhook;
      const command = { accountId: account.id, id };
      const at = later(NOON, HOUR);
      const change = {
        url: 'https://new.example.com',
        types: undefined,
        description: undefined,
        status: 'enabled',
      } as const;
      await atOnce(2, (index) =>
        index === 0
          ? webhooks.change(account.id, id, (state) => decideWebhookChange(state, { ...command, change }, at))
          : rotate(webhook, 'whsec_b', at),
      );
      const changed = { ...shown(webhook), ...change, updatedAt: at };
      const past = [{ secret: webhook.secret, until: later(at, DAY) }];
      expect(await stored(changed)).toEqual(changed);
      expect(await secretsOf(changed)).toEqual({ current: 'whsec_b', past });
      await expect(
        webhooks.remove(account.id, id, () => {
          throw REFUSAL;
        }),
      ).rejects.toBe(REFUSAL);
      expect(await stored(changed)).toEqual(changed);
    });

    it('keeps each replaced secret, the last one first, of which a rotation sees the ends', async () => {
      const webhook = await add();
      const at = [NOON, later(NOON, HOUR), later(NOON, DAY)] as const;
      for (const [index, time] of at.entries())
        expect((await rotate(webhook, `whsec_${index}`, time)).updatedAt).toBe(time);
      const state = await stateOf((refuse) => webhooks.rotate(account.id, webhook.id, refuse));
      const ends = [{ until: later(at[2], DAY) }, { until: later(at[1], DAY) }];
      expect(state).toEqual({ webhook: { ...shown(webhook), updatedAt: at[2] }, past: ends });
      const past = [
        { secret: 'whsec_1', until: later(at[2], DAY) },
        { secret: 'whsec_0', until: later(at[1], DAY) },
      ];
      expect(await secretsOf(webhook)).toEqual({ current: 'whsec_2', past });
    });

    it('lets no more secrets sign than may, however many rotations race', async () => {
      const webhook = await add();
      const rotated = outcomes(
        await Promise.allSettled(
          Array.from({ length: MOST_SECRETS + 2 }, (_, index) => rotate(webhook, `whsec_${index}`, NOON)),
        ),
      );
      expect(rotated.values).toHaveLength(MOST_SECRETS - 1);
      for (const reason of rotated.reasons as object[]) expect(reason).toMatchObject({ code: 'too_many_secrets' });
      expect((await secretsOf(webhook)).past).toHaveLength(MOST_SECRETS - 1);
    });

    it('reads all webhooks in parts, and forgets the secrets that no longer sign', async () => {
      const [webhook, other] = [await add(), await add()];
      await rotate(webhook, 'whsec_b', NOON);
      const end = later(NOON, DAY);
      for (const [now, past] of [
        [later(end, -1), [{ secret: webhook.secret, until: end }]],
        [end, []],
      ] as const) {
        const seen: unknown[] = [];
        for (let after: WebhookId | undefined; ;) {
          const { last, unreadable } = await webhooks.reencrypt({ after, limit: 1 }, now);
          expect(unreadable).toEqual([]);
          if (last === undefined) break;
          seen.push(last);
          after = last;
        }
        expect(new Set(seen).size).toBe(seen.length);
        for (const { id } of [webhook, other]) expect(seen).toContain(id);
        expect(await secretsOf(webhook)).toEqual({ current: 'whsec_b', past });
        expect(await secretsOf(other)).toEqual({ current: other.secret, past: [] });
      }
      const { first, older, unknown } = await webhooks.countSecrets();
      expect([first > 1, older, unknown]).toEqual([true, 0, 0]);
    });

    it('shows an operator the webhooks of all accounts, in parts, and those of one', async () => {
      const owner = await openWithPassword(adapters.ports.credentials, unique);
      const theirs = [shown(await add({}, owner)), shown(await add({}, owner))];
      const own = await add();
      const seen: AccountWebhook[] = [];
      for (let after: WebhookId | undefined; ;) {
        const part = await webhooks.listAll({ after, limit: 2 });
        seen.push(...part);
        after = part.at(-1)?.webhook.id;
        if (after === undefined) break;
      }
      const ids = seen.map(({ webhook }) => webhook.id);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { id } of [...theirs, own]) expect(ids).toContain(id);
      const ofOwner = await webhooks.listAll({ accountId: owner.id, limit: 10 });
      expect(ofOwner).toHaveLength(2);
      for (const webhook of theirs) {
        const found = ofOwner.find((each) => each.webhook.id === webhook.id);
        expect(found).toMatchObject({ webhook, failingSince: undefined, recoveringSince: undefined });
        expect(found?.account).toMatchObject({ id: owner.id, email: owner.email });
      }
      expect(await webhooks.findOwner(own.id)).toBe(account.id);
      for (const id of ['', 'whk_\0'] as WebhookId[]) expect(await webhooks.findOwner(id)).toBeUndefined();
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
