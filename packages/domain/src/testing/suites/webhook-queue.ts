import type { Account } from '../../accounts/account.js';
import { newAnimal } from '../../animals/animal.js';
import type { DeliveryQueue } from '../../deliveries/delivery-queue.js';
import { EVENT_TYPES, type PublishedEvent } from '../../events/event.js';
import { DAY, HOUR, instant, later, MINUTE } from '../../kernel/clock.js';
import type { PagePlace } from '../../kernel/page.js';
import type { AccountMailId } from '../../accounts/account-mail.js';
import type { MessageId } from '../../messages/message.js';
import { type ClaimedDelivery, type DeliveryId, PING, pingData } from '../../webhooks/delivery.js';
import type { Webhook, WebhookFields } from '../../webhooks/webhook.js';
import type { WebhookQueue } from '../../webhooks/webhook-queue.js';
import { deliveryQueue } from './delivery-queue.js';
import { byOperator, NOON, Unique } from './fixtures.js';
import type { OpenedQueue, OpenQueue, TestFramework } from './framework.js';
import { newWebhook } from './webhook-repository.js';

type Needed = 'accountMails' | 'accounts' | 'animals' | 'events' | 'messages' | 'webhookDeliveries' | 'webhooks';

/** The guarantees of every `WebhookQueue`. */
export function webhookQueueSuite(framework: TestFramework, name: string, open: OpenQueue<Needed>): void {
  const { describe, it, beforeAll, afterAll, afterEach, expect } = framework;
  describe(`a webhook queue (${name})`, () => {
    const unique = new Unique();
    let adapters: OpenedQueue<Needed>;
    let ports: OpenedQueue<Needed>['ports'];
    let queue: WebhookQueue;
    let account: Account;
    let other: Account;
    beforeAll(async () => {
      adapters = await open();
      ports = adapters.ports;
      queue = ports.webhookDeliveries;
      account = await ports.accounts.open(unique.account());
      other = await ports.accounts.open(unique.account());
    });
    afterAll(() => adapters.close());
    afterEach(async () => {
      for (const owner of [account, other])
        for (const { id } of await ports.webhooks.list(owner.id))
          await ports.webhooks.remove(byOperator({ accountId: owner.id, id }), () => undefined);
    });

    const letPass = async (milliseconds: number) => adapters.letPass(milliseconds);
    const add = (fields: Partial<WebhookFields> = {}, owner = account) =>
      ports.webhooks.add(byOperator({ accountId: owner.id }), () => newWebhook(owner, unique, fields));
    const change = (webhook: Webhook, fields: Partial<WebhookFields>) =>
      ports.webhooks.change(byOperator(webhook), ({ webhook: stored }) => {
        if (stored === undefined) throw new Error('it is gone');
        return { ...stored, ...fields };
      });
    const claim = (limit = 20) => queue.claim({ limit, lease: MINUTE });
    const ping = async ({ id }: Webhook, times = 1) => {
      const pings: DeliveryId[] = [];
      while (pings.length < times) pings.push((await queue.ping(id, NOON)).id);
      return pings;
    };
    const idsOf = (items: readonly { readonly id: DeliveryId }[]) => items.map(({ id }) => id);
    const first = ([delivery]: readonly ClaimedDelivery[]) => {
      if (delivery === undefined) throw new Error('none was claimed');
      return delivery;
    };
    const well = { failedTurns: 0, failingSince: undefined, pause: 0 };
    const statusesOf = async ({ id }: Webhook) =>
      (await queue.list({ webhookId: id, limit: 100 })).map(({ type, status }) => `${type} ${status}`);
    /** Makes an event for everybody and one for the account, and publishes them. */
    const happen = async (owner = account): Promise<readonly PublishedEvent[]> => {
      const page = { accountId: owner.id, types: EVENT_TYPES, limit: 100 };
      const { end } = await ports.events.list(page);
      await ports.animals.add(newAnimal({ name: unique.name(), categoryId: 1n }));
      const id = unique.name() as MessageId;
      await ports.messages.add({ id, accountId: owner.id, text: '"\\ 🐈', createdAt: NOON });
      await ports.messages.markSent(id);
      while ((await ports.events.publish(1_000)) > 0);
      return (await ports.events.list({ ...page, after: end })).events;
    };

    // As if each item had a receiver of its own.
    const claimed = new Map<DeliveryId, ClaimedDelivery>();
    deliveryQueue(framework, () => {
      const own: DeliveryQueue<DeliveryId, ClaimedDelivery> = {
        claim: async ({ limit, lease }) => {
          const items: ClaimedDelivery[] = [];
          while (items.length < limit) {
            const [item] = await queue.claim({ limit: 1, lease });
            if (item === undefined) break;
            claimed.set(item.id, item);
            items.push(item);
          }
          return items;
        },
        postpone: async (stale, pause) => {
          await queue.postpone(stale, pause);
          const turn = claimed.get(stale.id);
          if (turn?.number === stale.number) await queue.endTurn(turn, well);
        },
        markSent: (id) => queue.markSent(id),
        release: (stale) => queue.release(stale),
        markFailed: (stale) => queue.markFailed(stale),
        backlog: () => queue.backlog(),
      };
      const addOne = async (createdAt = NOON) => (await queue.ping((await add()).id, createdAt)).id;
      return { queue: own, add: addOne, letPass };
    });

    it('queues each event for the enabled webhooks that it is for, as the feed shows it', async () => {
      const all = await add();
      const some = await add({ types: ['pet.added', 'order.placed'] });
      const otherType = await add({ types: ['order.placed'] });
      const foreign = await add({}, other);
      const disabled = await add({ status: 'disabled' });
      const events = await happen();
      expect(events.map(({ type }) => type)).toEqual(['pet.added', 'message.sent']);
      const delivered = new Map<string, readonly unknown[]>();
      for (let turn = await claim(); turn.length > 0; turn = await claim()) {
        const shown = turn.map(({ eventId: id, type, createdAt, data }) => ({ id, type, createdAt, data }));
        delivered.set(
          first(turn).receiver.id,
          shown.toSorted((one, another) => (one.type < another.type ? 1 : -1)),
        );
      }
      const expected = events.map(({ position, ...event }) => event);
      expect(delivered.get(all.id)).toEqual(expected);
      expect(delivered.get(some.id)).toEqual(expected.slice(0, 1));
      expect(delivered.get(foreign.id)).toEqual(expected.slice(0, 1));
      expect([delivered.size, await statusesOf(otherType), await statusesOf(disabled)]).toEqual([3, [], []]);
    });

    it('knows since when the oldest delivery waits that nobody has tried, unless its webhook fails', async () => {
      const webhook = await add({ types: ['pet.added'] });
      const [event] = await happen();
      const turn = first(await claim());
      expect(await ports.events.oldestUndelivered()).toBeGreaterThanOrEqual(event?.createdAt ?? Infinity);
      await queue.postpone(turn, MINUTE);
      await queue.endTurn(turn, { failedTurns: 1, failingSince: NOON, pause: MINUTE });
      await ping(webhook);
      expect(await ports.events.oldestUndelivered()).toBeUndefined();
    });

    it('gives a turn to one receiver at a time, the one that has waited longest, with no more than asked for', async () => {
      const [one, another] = [await add(), await add()];
      const [pings, others] = [await ping(one, 3), await ping(another)];
      const turn = await claim(2);
      expect(turn.every(({ id }) => pings.includes(id))).toBe(true);
      expect(first(turn)).toMatchObject({ type: PING, eventId: undefined, createdAt: NOON, data: pingData(one.id) });
      const { url, accountId } = one;
      expect(first(turn).receiver).toMatchObject({
        id: one.id,
        url,
        accountId,
        failedTurns: 0,
        failingSince: undefined,
      });
      expect(idsOf(await claim(2))).toEqual(others);
      expect(await claim()).toEqual([]);
      const late = await ping(one);
      for (const { id } of turn) await queue.markSent(id);
      expect(await claim()).toEqual([]);
      await queue.endTurn(first(turn), well);
      expect(idsOf(await claim()).sort()).toEqual([...pings.filter((id) => !idsOf(turn).includes(id)), ...late].sort());
    });

    it('lets no receiver wait for one that always has something due', async () => {
      const [busy, calm] = [await add(), await add()];
      await ping(busy, 4);
      await queue.endTurn(first(await claim(1)), well);
      await letPass(1);
      await ping(calm);
      await letPass(1);
      expect(first(await claim(1)).receiver.id).toBe(busy.id);
      expect(first(await claim(1)).receiver.id).toBe(calm.id);
    });

    it('asks a receiver again after the pause of its last turn, and remembers its failures', async () => {
      const webhook = await add();
      await ping(webhook);
      const end = { failedTurns: 2, failingSince: later(NOON, -HOUR), pause: HOUR };
      await queue.endTurn(first(await claim()), end);
      await ping(webhook);
      await letPass(HOUR - MINUTE);
      expect(await claim()).toEqual([]);
      await letPass(MINUTE);
      const again = await claim();
      expect(again).toHaveLength(2);
      expect(first(again).receiver).toMatchObject({ failedTurns: 2, failingSince: end.failingSince });
    });

    it('lets the turn under way end before it calls another address, where earlier failures don’t count', async () => {
      const webhook = await add();
      await ping(webhook, 2);
      const failing = { failedTurns: 1, failingSince: NOON, pause: 0 };
      await queue.endTurn(first(await claim(1)), failing);
      const turn = await claim(1);
      expect(first(turn).receiver.failedTurns).toBe(1);
      const url = 'https://new.example.com';
      await change(webhook, { url });
      expect(await claim()).toEqual([]);
      await letPass(MINUTE);
      expect(first(await claim()).receiver).toMatchObject({ url, failedTurns: 0, failingSince: undefined });
    });

    it('ignores the end of a turn after a later one has begun, but not after another change', async () => {
      const webhook = await add();
      await ping(webhook);
      const failing = { failedTurns: 1, failingSince: NOON, pause: HOUR };
      const turn = await claim();
      await change(webhook, { description: 'the same receiver' });
      await letPass(MINUTE);
      const next = await claim();
      await queue.endTurn(first(turn), { ...failing, disabled: 'gone' });
      expect((await ports.webhooks.findById(account.id, webhook.id))?.status).toBe('enabled');
      await queue.endTurn(first(next), failing);
      await letPass(HOUR);
      expect(first(await claim()).receiver.failedTurns).toBe(1);
    });

    it('sends nothing more to a webhook that a turn disables, and mails the notice, until it is enabled again', async () => {
      const webhook = await add();
      await ping(webhook, 2);
      const id = unique.name() as AccountMailId;
      const notice = {
        id,
        accountId: account.id,
        kind: 'webhook',
        page: '',
        createdAt: NOON,
        expiresAt: later(NOON, DAY),
      } as const;
      const end = { failedTurns: 3, failingSince: NOON, pause: 0, disabled: 'failing' } as const;
      await queue.endTurn(first(await claim(1)), end, notice);
      const { status, updatedAt = NOON } = (await ports.webhooks.findById(account.id, webhook.id)) ?? {};
      expect([status, updatedAt > NOON]).toEqual(['disabled', true]);
      await letPass(DAY);
      expect([await claim(), await queue.backlog()]).toEqual([[], { queued: 0, oldest: undefined }]);
      const mails = await ports.accountMails.claim({ limit: 10, lease: MINUTE });
      expect(mails).toMatchObject([{ kind: 'webhook', email: account.email }]);
      await change(webhook, { status: 'enabled' });
      expect(await claim()).toHaveLength(2);
      await ports.webhooks.remove(byOperator(webhook), () => undefined);
      await letPass(DAY);
      expect([await claim(), await queue.backlog()]).toEqual([[], { queued: 0, oldest: undefined }]);
    });

    it('leaves nothing behind, however publishing and the ends of turns race', async () => {
      const receivers = [await add(), await add({ types: ['pet.added'] })];
      let publishing = 1;
      const deliver = async () => {
        const delivered: string[] = [];
        for (let isLast = false; !isLast;) {
          // Read before the turn, which then finds what is left.
          isLast = publishing === 0;
          const turn = await claim(3);
          for (const { receiver, data } of turn) delivered.push(`${receiver.id} ${data}`);
          await Promise.all(turn.map(({ id }) => queue.markSent(id, 204)));
          if (turn.length > 0) await queue.endTurn(first(turn), well);
          if (turn.length > 0) isLast = false;
        }
        return delivered;
      };
      const delivering = Promise.all([deliver(), deliver(), deliver()]);
      for (let round = 0; round < 25; round += 1) await happen();
      publishing = 0;
      const delivered = (await delivering).flat();
      expect([delivered.length, new Set(delivered).size]).toEqual([75, 75]);
      for (const webhook of receivers)
        expect((await statusesOf(webhook)).filter((each) => !each.endsWith('sent'))).toEqual([]);
    });

    it('lists the deliveries with their attempts, newest first, forwards and back', async () => {
      const webhook = await add();
      const [sent, postponed, failed, waiting] = await ping(webhook, 4);
      await ping(await add());
      const turn = await claim();
      for (const delivery of turn) {
        if (delivery.id === sent) await queue.markSent(delivery.id, 204);
        if (delivery.id === postponed) await queue.postpone(delivery, HOUR, 500);
        if (delivery.id === failed) await queue.markFailed(delivery);
      }
      const list = (place: PagePlace<DeliveryId> = {}, limit = 2) =>
        queue.list({ webhookId: webhook.id, limit, ...place });
      const all = await list({}, 100);
      const rest = { eventId: undefined, type: PING, createdAt: NOON };
      expect(
        all.map(({ nextAttemptAt, ...delivery }) => ({ ...delivery, isNext: nextAttemptAt !== undefined })),
      ).toEqual([
        { ...rest, id: waiting, status: 'queued', attempts: 0, responseStatus: undefined, isNext: true },
        { ...rest, id: failed, status: 'failed', attempts: 1, responseStatus: undefined, isNext: false },
        { ...rest, id: postponed, status: 'queued', attempts: 1, responseStatus: 500, isNext: true },
        { ...rest, id: sent, status: 'sent', attempts: 1, responseStatus: 204, isNext: false },
      ]);
      for (const [place, { id }] of all.entries()) {
        expect(await list({ after: id })).toEqual(all.slice(place + 1, place + 3));
        expect(await list({ before: id })).toEqual(all.slice(Math.max(0, place - 2), place));
      }
    });

    it('queues a delivery of the webhook again, with all its attempts, whatever has become of it', async () => {
      const [webhook, stranger] = [await add(), await add()];
      const [sent, failed, waiting] = await ping(webhook, 3);
      for (const delivery of await claim()) {
        if (delivery.id === sent) await queue.markSent(delivery.id, 200);
        else if (delivery.id === failed) await queue.markFailed(delivery, 500);
        else await queue.postpone(delivery, DAY, 500);
      }
      await letPass(MINUTE);
      expect(await claim()).toEqual([]);
      for (const id of [sent, failed, waiting] as DeliveryId[]) {
        expect(await queue.retry(webhook.id, id)).toMatchObject({ id, status: 'queued', attempts: 0 });
        expect(await queue.retry(stranger.id, id)).toBeUndefined();
      }
      const noIds = ['', 'dlv_', 'dlv_0', 'dlv_x', `dlv_${'9'.repeat(19)}`, 'dlv_1\0', `msg_${sent?.slice(4)}`];
      for (const id of noIds as DeliveryId[]) expect(await queue.retry(webhook.id, id)).toBeUndefined();
      expect(await claim()).toHaveLength(3);
    });

    it('keeps the wish to get events again, which the webhook shows', async () => {
      const [webhook, other] = [await add(), await add()];
      await queue.recover(webhook.id, NOON);
      const shown = await ports.webhooks.list(account.id);
      expect(shown.find(({ id }) => id === webhook.id)).toEqual({ ...webhook, recoveringSince: NOON });
      expect(shown.find(({ id }) => id === other.id)).toEqual(other);
      await change(webhook, { description: 'changed' });
      expect(await ports.webhooks.findById(account.id, webhook.id)).toMatchObject({ recoveringSince: NOON });
    });

    it('deletes deliveries with their events, and pings by their age', async () => {
      const webhook = await add();
      const [event] = await happen();
      await ping(webhook);
      await queue.purge(later(NOON, -1));
      expect(await statusesOf(webhook)).toHaveLength(3);
      expect(await queue.purge(NOON)).toBeGreaterThanOrEqual(1);
      expect(await statusesOf(webhook)).toHaveLength(2);
      await ports.events.purge(instant(0));
      expect(await statusesOf(webhook)).toHaveLength(2);
      await ports.events.purge(later(event?.createdAt ?? NOON, DAY));
      expect([await statusesOf(webhook), await claim()]).toEqual([[], []]);
      await ping(webhook);
      expect(await claim()).toHaveLength(1);
    });
  });
}
