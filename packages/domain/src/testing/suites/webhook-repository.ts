import type { Account } from '../../accounts/account.js';
import type { ApiKey } from '../../accounts/keys/api-key.js';
import type { Actor } from '../../accounts/keys/authority.js';
import type { AccountMailId } from '../../accounts/mails/account-mail.js';
import { decideReset } from '../../accounts/sign-in/credentials.js';
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
  type WebhookId,
  type WebhookState,
} from '../../webhooks/webhook.js';
import type { WebhookRepository } from '../../webhooks/webhook-repository.js';
import {
  addKey,
  byOperator,
  changePassword,
  closeAccount,
  expectDecidedOnce,
  mailLink,
  NOON,
  openBefore,
  openWithPassword,
  present,
  race,
  revokeKey,
  stateOf,
  tried,
  Unique,
} from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';
import { newWebhook, roundEnd } from './webhook-store.js';

type Needed =
  'accountMails' | 'accounts' | 'apiKeys' | 'credentials' | 'webhookDeliveries' | 'webhookQueue' | 'webhooks';

const shown = ({ secret, ...webhook }: NewWebhook): Webhook => webhook;

/** The guarantees of every `WebhookRepository`. */
export function webhookRepositorySuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, expect } = framework;
  describe(`a webhook repository (${name})`, () => {
    const unique = new Unique();
    let ports: Opened<Needed>['ports'];
    let webhooks: WebhookRepository;
    let account: Account;
    openBefore(framework, open, async (adapters) => {
      ports = adapters.ports;
      webhooks = ports.webhooks;
      account = await openAccount();
    });
    const openAccount = () => openWithPassword(ports.credentials, unique);

    const add = async (fields?: Partial<NewWebhook>, owner = account) => {
      const webhook = newWebhook(owner, unique, fields);
      await webhooks.add(byOperator({ accountId: owner.id }), () => webhook);
      return webhook;
    };
    const stored = async (webhook: Webhook) =>
      (await stateOf<WebhookState>((refuse) => webhooks.change(byOperator(webhook), refuse))).webhook;
    /** The secrets with which a delivery to the webhook is signed. */
    const secretsOf = async ({ id }: Pick<Webhook, 'id'>) => {
      const { webhookQueue } = ports;
      await ports.webhookDeliveries.ping(id, NOON);
      const round = present(await webhookQueue.takeRound({ limit: 1, lease: MINUTE }));
      for (const delivery of round.deliveries) await webhookQueue.settle(delivery, { status: 'sent' }, tried());
      await webhookQueue.endRound(round, 0, (receiver) => ({ end: roundEnd(receiver) }));
      return round.secrets;
    };
    /** The ids of all parts, in which each webhook is once. */
    const walk = async (readPart: (after?: WebhookId) => Promise<readonly WebhookId[]>) => {
      const seen: WebhookId[] = [];
      for (let part = await readPart(); part.length > 0; part = await readPart(seen.at(-1))) {
        seen.push(...part);
        expect(new Set(seen).size).toBe(seen.length);
      }
      return seen;
    };
    const rotate = ({ id, accountId }: Webhook, secret: string, at: Instant) => {
      const command = byOperator({ accountId, id });
      return webhooks.rotate(command, (state) => decideSecretRotation(state, { ...command, secret }, at));
    };
    const isGone = async ({ accountId, id }: Webhook) => (await webhooks.findById(accountId, id)) === undefined;
    const reset = async (owner: Account) => {
      const link = unique.link(owner);
      await mailLink(ports, 'reset', link);
      await ports.credentials.useLink('reset', link.tokenHash, (state) =>
        decideReset(state, { passwordHash: 'next', noticeId: unique.name() as AccountMailId }, NOON),
      );
    };
    /** Adds a webhook if the actor may. */
    const addBy = (actor: Actor, { id: accountId }: Account) => {
      const webhook = newWebhook({ id: accountId }, unique);
      return webhooks.add({ accountId, actor }, (state) => decideCreation(state, { actor, webhook }, NOON));
    };
    it('stores and returns a webhook, whose secret only its deliveries see', async () => {
      const fields = { types: ['order.placed', 'pet.added'], description: ' Łuna 🐈 ', status: 'disabled' } as const;
      for (const webhook of [newWebhook(account, unique), newWebhook(account, unique, fields)]) {
        expect(await webhooks.add(byOperator({ accountId: account.id }), () => webhook)).toEqual(shown(webhook));
        expect(await webhooks.findById(account.id, webhook.id)).toEqual(shown(webhook));
        expect(await stored(webhook)).toEqual(shown(webhook));
        if (webhook.status === 'enabled')
          expect(await secretsOf(webhook)).toEqual({ current: webhook.secret, past: [] });
      }
    });

    it('lists an account’s own, the oldest first, and finds no others', async () => {
      const [owner, foreign] = [await openAccount(), await add()];
      const added = [await add({}, owner), await add({ createdAt: later(NOON, 1) }, owner)];
      expect(await webhooks.list(owner.id)).toEqual(added.map(shown));
      for (const id of [foreign.id, '', 'whk_\0', '\ud800', 'w'.repeat(10_000)] as WebhookId[]) {
        expect(await webhooks.findById(owner.id, id)).toBeUndefined();
        const command = byOperator({ accountId: owner.id, id });
        const none = { account: owner, key: undefined, webhook: undefined };
        expect(await stateOf((refuse) => webhooks.rotate(command, refuse))).toEqual({ ...none, past: [] });
        expect(await stateOf((refuse) => webhooks.change(command, refuse))).toEqual(none);
        expect(await stateOf((refuse) => webhooks.delete(command, refuse))).toEqual(none);
        expect(await stateOf((refuse) => webhooks.lock(command, refuse))).toEqual(none);
      }
    });

    it('adds no more than the account may have, however many callers race', async () => {
      const owner = await openAccount();
      const { values, reasons } = await race(MOST_WEBHOOKS + 5, () => addBy('operator', owner));
      expect(values).toHaveLength(MOST_WEBHOOKS);
      for (const reason of reasons) expect(reason).toMatchObject({ code: 'too_many_webhooks' });
      expect(await webhooks.list(owner.id)).toHaveLength(MOST_WEBHOOKS);
    });

    it('stores what each of several changes makes of the one before, and nothing of a refused one', async () => {
      const webhook = await add({ types: ['pet.added'], description: 'old' });
      const command = byOperator({ accountId: account.id, id: webhook.id });
      const at = later(NOON, HOUR);
      const change = { url: 'https://new.example.com', types: undefined, description: undefined };
      await Promise.all([
        webhooks.change(command, (state) => decideWebhookChange(state, { ...command, change }, at)),
        rotate(webhook, 'whsec_b', at),
      ]);
      const changed = { ...shown(webhook), ...change, updatedAt: at };
      const past = [{ secret: webhook.secret, until: later(at, DAY) }];
      expect(await secretsOf(changed)).toEqual({ current: 'whsec_b', past });
      expect(await stateOf((refuse) => webhooks.delete(command, refuse))).toMatchObject({ webhook: changed });
      expect(await stored(changed)).toEqual(changed);
    });

    it('keeps each replaced secret, the last one first, of which a rotation sees the ends', async () => {
      const webhook = await add();
      const at = [NOON, later(NOON, HOUR), later(NOON, DAY)] as const;
      for (const [index, time] of at.entries())
        expect((await rotate(webhook, `whsec_${index}`, time)).updatedAt).toBe(time);
      const past = [
        { secret: 'whsec_1', until: later(at[2], DAY) },
        { secret: 'whsec_0', until: later(at[1], DAY) },
      ];
      const ends = past.map(({ until }) => ({ until }));
      const state = { account, key: undefined, webhook: { ...shown(webhook), updatedAt: at[2] }, past: ends };
      expect(await stateOf((refuse) => webhooks.rotate(byOperator(webhook), refuse))).toEqual(state);
      expect(await secretsOf(webhook)).toEqual({ current: 'whsec_2', past });
    });

    it('lets no more secrets sign than may, however many rotations race', async () => {
      const webhook = await add();
      const { values, reasons } = await race(MOST_SECRETS + 2, (index) => rotate(webhook, `whsec_${index}`, NOON));
      expect(values).toHaveLength(MOST_SECRETS - 1);
      for (const reason of reasons) expect(reason).toMatchObject({ code: 'too_many_secrets' });
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
        const seen = await walk(async (after) => {
          const { last, unreadable } = await webhooks.reencrypt({ after, limit: 1 }, now);
          expect(unreadable).toEqual([]);
          return last === undefined ? [] : [last];
        });
        for (const { id } of [webhook, other]) expect(seen).toContain(id);
        expect(await secretsOf(webhook)).toEqual({ current: 'whsec_b', past });
        expect(await secretsOf(other)).toEqual({ current: other.secret, past: [] });
      }
      const { first, older, unknown } = await webhooks.countSecrets();
      expect([first > 1, older, unknown]).toEqual([true, 0, 0]);
    });

    it('decides once, on each change', () => {
      const webhook = newWebhook(account, unique);
      const command = byOperator(webhook);
      const [keep, rotate] = [() => webhook, () => ({ webhook, secret: 'whsec_b', until: NOON })];
      const [nothing, work] = [() => undefined, async () => undefined];
      return expectDecidedOnce(framework, {
        add: (counted) => webhooks.add(command, counted(keep)),
        change: (counted) => webhooks.change(command, counted(keep)),
        lock: (counted) => webhooks.lock(command, counted(work)),
        rotate: (counted) => webhooks.rotate(command, counted(rotate)),
        delete: (counted) => webhooks.delete(command, counted(nothing)),
      });
    });

    it('shows as many webhooks as are asked for, more than a page, too', async () => {
      const owner = await openAccount();
      for (let count = 0; count < 102; count += 1) await add({}, owner);
      for (const limit of [101, 102])
        expect(await webhooks.listAll({ accountId: owner.id, limit })).toHaveLength(limit);
    });

    it('shows an operator the webhooks of all accounts, in parts, and those of one', async () => {
      const owner = await openAccount();
      const theirs = [shown(await add({}, owner)), shown(await add({}, owner))];
      const own = await add();
      const seen = await walk(async (after) =>
        (await webhooks.listAll({ after, limit: 2 })).map(({ webhook }) => webhook.id),
      );
      for (const { id } of [...theirs, own]) expect(seen).toContain(id);
      const ofOwner = theirs.map((webhook) => ({ account: owner, webhook, failingSince: undefined }));
      expect(new Set(await webhooks.listAll({ accountId: owner.id, limit: 10 }))).toEqual(new Set(ofOwner));
      expect(await webhooks.findOwner(own.id)).toBe(account.id);
      for (const id of ['', 'whk_\0'] as WebhookId[]) expect(await webhooks.findOwner(id)).toBeUndefined();
    });

    it('forgets what is removed', async () => {
      const [removed, kept] = [await add(), await add()];
      await webhooks.delete(byOperator(removed), () => undefined);
      expect([await isGone(removed), await isGone(kept)]).toEqual([true, false]);
    });

    it('forgets all of an account that is closed, or that its owner takes over', async () => {
      const [closed, taken] = [await openAccount(), await openAccount()];
      const [ofClosed, ofTaken, kept] = [await add({}, closed), await add({}, taken), await add()];
      await closeAccount(ports, closed);
      await reset(taken);
      expect([await isGone(ofClosed), await isGone(ofTaken), await isGone(kept)]).toEqual([true, true, false]);
      const addedSince = await add({}, taken);
      // The address is proven by now.
      await reset(taken);
      expect(await isGone(addedSince)).toBe(false);
      for (const id of [closed.id, INT64_MAX as Account['id']])
        expect(await stateOf((refuse) => webhooks.add(byOperator({ accountId: id }), refuse))).toMatchObject({
          account: undefined,
        });
    });

    it('decides on the actor’s account and key as they are stored, however recently they changed', async () => {
      const { accounts, apiKeys } = ports;
      const owner = await openAccount();
      const webhook = shown(await add({}, owner));
      const key = await addKey(ports, unique.key(owner));
      const expectDecidedOn = async (actor: Actor, account: Account, ofActor?: ApiKey) => {
        const command = { ...webhook, actor };
        const state = { account, key: ofActor, webhook };
        expect(await stateOf((refuse) => webhooks.add(command, refuse))).toEqual({
          account,
          key: ofActor,
          webhooks: 1,
        });
        expect(await stateOf((refuse) => webhooks.rotate(command, refuse))).toEqual({ ...state, past: [] });
        expect(await stateOf((refuse) => webhooks.change(command, refuse))).toEqual(state);
        expect(await stateOf((refuse) => webhooks.delete(command, refuse))).toEqual(state);
        expect(await stateOf((refuse) => webhooks.lock(command, refuse))).toEqual(state);
      };
      const [byKey, byPerson] = [{ keyId: key.id }, { credentialVersion: owner.credentialVersion }];
      await expectDecidedOn(byKey, owner, key);
      await expectDecidedOn(byPerson, owner);
      await expectDecidedOn({ keyId: (await addKey(ports, unique.key(account))).id }, owner);
      // The key is in the cache from now on.
      await apiKeys.findByHash(key.hash);
      const held = await accounts.change(owner.email, () => ({ ...owner, scopes: ['pets:read'] }));
      await expectDecidedOn(byKey, held, key);
      await expectDecidedOn(byKey, held, await revokeKey(ports, key.id, NOON));
      await expectDecidedOn(byPerson, present(await changePassword(ports, owner)));
    });

    it('keeps no webhook of a stranger, however many are added while the owner proves the address by a reset', async () => {
      for (let round = 0; round < 2; round += 1) {
        const owner = await openAccount();
        const key = await addKey(ports, unique.key(owner));
        const actors = [{ keyId: key.id }, { credentialVersion: owner.credentialVersion }];
        const adding = race(8, (index) => addBy(present(actors[index % 2]), owner));
        await reset(owner);
        await adding;
        expect(await webhooks.list(owner.id)).toEqual([]);
      }
    });
  });
}
