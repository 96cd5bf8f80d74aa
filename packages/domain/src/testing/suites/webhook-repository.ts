import { type Account, decideScopes } from '../../accounts/account.js';
import type { Actor } from '../../accounts/keys/authority.js';
import { decideReset } from '../../accounts/sign-in/credentials.js';
import { DAY, HOUR, type Instant, later, MINUTE } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import {
  decideCreation,
  decidePing,
  decideRemoval,
  decideSecretRotation,
  decideWebhookChange,
  MOST_SECRETS,
  MOST_WEBHOOKS,
  type NewWebhook,
  type Webhook,
  type WebhookFields,
  type WebhookId,
  type WebhookState,
} from '../../webhooks/webhook.js';
import type { AccountWebhook, WebhookRepository } from '../../webhooks/webhook-repository.js';
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
  tried,
  Unique,
} from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'accountMails' | 'accounts' | 'apiKeys' | 'credentials' | 'webhookDeliveries' | 'webhooks';

/** A webhook of which no two are the same. */
export function newWebhook(
  { id }: Pick<Account, 'id'>,
  unique: Unique,
  fields: Partial<WebhookFields> = {},
): NewWebhook {
  const name = unique.name();
  return {
    id: `whk_${name}` as WebhookId,
    accountId: id,
    url: `https://${name}.example.com`,
    types: undefined,
    description: undefined,
    status: 'enabled',
    recoveringSince: undefined,
    createdAt: NOON,
    updatedAt: NOON,
    ...fields,
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
      await webhooks.add(byOperator({ accountId: owner.id }), () => webhook);
      return webhook;
    };
    const stored = async (webhook: Webhook) =>
      (await stateOf<WebhookState>((refuse) => webhooks.change(byOperator(webhook), refuse))).webhook;
    const secretsOf = async ({ id }: Pick<Webhook, 'id'>) => {
      const { webhookDeliveries } = adapters.ports;
      await webhookDeliveries.ping(id, NOON);
      const turn = await webhookDeliveries.takeTurn({ limit: 1, lease: MINUTE });
      if (turn === undefined) throw new Error('nothing is due');
      for (const delivery of turn.deliveries) await webhookDeliveries.settle(delivery, { status: 'sent' }, tried());
      await webhookDeliveries.endTurn(turn, 0, (receiver) => ({ end: { ...receiver, pause: 0, isFailing: false } }));
      return turn.secrets;
    };
    const rotate = ({ id, accountId }: Webhook, secret: string, at: Instant) => {
      const command = byOperator({ accountId, id });
      return webhooks.rotate(command, (state) => decideSecretRotation(state, { ...command, secret }, at));
    };
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
        const none = { account: owner, key: undefined, webhook: undefined };
        expect(await stateOf((refuse) => webhooks.rotate(command, refuse))).toEqual({ ...none, past: [] });
        for (const asked of [
          await stateOf((refuse) => webhooks.change(command, refuse)),
          await stateOf((refuse) => webhooks.remove(command, refuse)),
          await stateOf((refuse) => webhooks.lock(command, refuse)),
        ])
          expect(asked).toEqual(none);
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
      const webhook = await add({ types: ['pet.added'], description: 'old' });
      const command = byOperator({ accountId: account.id, id: webhook.id });
      const at = later(NOON, HOUR);
      const change = {
        url: 'https://new.example.com',
        types: undefined,
        description: undefined,
        status: 'enabled',
      } as const;
      await atOnce(2, (index) =>
        index === 0
          ? webhooks.change(command, (state) => decideWebhookChange(state, { ...command, change }, at))
          : rotate(webhook, 'whsec_b', at),
      );
      const changed = { ...shown(webhook), ...change, updatedAt: at };
      const past = [{ secret: webhook.secret, until: later(at, DAY) }];
      expect(await stored(changed)).toEqual(changed);
      expect(await secretsOf(changed)).toEqual({ current: 'whsec_b', past });
      await expect(
        webhooks.remove(command, () => {
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
      const state = await stateOf((refuse) => webhooks.rotate(byOperator(webhook), refuse));
      const ends = [{ until: later(at[2], DAY) }, { until: later(at[1], DAY) }];
      expect(state).toEqual({
        account,
        key: undefined,
        webhook: { ...shown(webhook), updatedAt: at[2] },
        past: ends,
      });
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
        expect(found).toMatchObject({ webhook, failingSince: undefined });
        expect(found?.account).toMatchObject({ id: owner.id, email: owner.email });
      }
      expect(await webhooks.findOwner(own.id)).toBe(account.id);
      for (const id of ['', 'whk_\0'] as WebhookId[]) expect(await webhooks.findOwner(id)).toBeUndefined();
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
