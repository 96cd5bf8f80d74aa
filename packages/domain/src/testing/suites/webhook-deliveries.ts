import type { PublishedEvent } from '../../events/event.js';
import { DAY, HOUR, instant, later, MINUTE } from '../../kernel/clock.js';
import type { PagePosition } from '../../kernel/page.js';
import type { Transaction } from '../../kernel/transaction.js';
import { deliveryBody, type DeliveryId, PING, pingData } from '../../webhooks/delivery.js';
import { MOST_PINGS, type WebhookId } from '../../webhooks/webhook.js';
import type { WebhookDeliveries, WebhookQueue } from '../../webhooks/webhook-queue.js';
import { atOnce, byOperator, NOON, present, tried } from './fixtures.js';
import type { TestFramework } from './framework.js';
import { idsOf, type WebhookStore } from './webhook-store.js';

/** What every `WebhookQueue`, and its `WebhookDeliveries`, guarantee about what is stored. Each test begins without webhooks. */
export function webhookDeliveries(
  { describe, it, beforeAll, beforeEach, expect }: TestFramework,
  opened: () => WebhookStore,
): void {
  let store: WebhookStore;
  let queue: WebhookQueue;
  let deliveries: WebhookDeliveries;
  beforeAll(() => {
    store = opened();
    ({ queue, deliveries } = store);
  });

  describe('records an attempt', () => {
    it('as sent for good, as failed, or as due again after a pause', async () => {
      await store.ping(await store.add({}, store.other));
      await store.deliver();
      const webhook = await store.add();
      const [sent, postponed, failed, waiting] = await store.ping(webhook, 4);
      const round = await store.dueRound({ limit: 3 });
      await store.settle(round.deliveries[0], { status: 'sent' }, 204);
      await store.settle(round.deliveries[1], { status: 'queued', pause: HOUR }, 500);
      await store.settle(round.deliveries[2], { status: 'failed' });
      await store.endRound(round);
      const all = await deliveries.list({ webhookId: webhook.id, limit: 100 });
      const attempted = (status?: number) => ({ attempts: 1, responseStatus: status, history: [tried(status)] });
      const ofPing = { eventId: undefined, type: PING, createdAt: NOON };
      const unattempted = { attempts: 0, responseStatus: undefined, history: [] };
      expect(all).toMatchObject([
        { ...ofPing, id: waiting, status: 'queued', ...unattempted },
        { ...ofPing, id: failed, status: 'failed', ...attempted() },
        { ...ofPing, id: postponed, status: 'queued', ...attempted(500) },
        { ...ofPing, id: sent, status: 'sent', ...attempted(204) },
      ]);
      expect(all.map(({ nextAttemptAt }) => nextAttemptAt !== undefined)).toEqual([true, false, true, false]);
      expect(idsOf(await store.dueRound())).toEqual([waiting]);
      await store.letPass(HOUR);
      expect(await store.dueRound()).toMatchObject({ deliveries: [{ id: waiting }, { id: postponed, failures: 1 }] });
    });

    it('in a history of the last ten, which a retry keeps', async () => {
      const webhook = await store.add();
      const [id] = await store.ping(webhook);
      const [delivery] = (await store.dueRound()).deliveries;
      const answers = [undefined, ...Array.from({ length: 10 }, (_, index) => 500 + index)];
      for (const answer of answers) await store.settle(delivery, { status: 'queued', pause: 0 }, answer);
      const again = await deliveries.retry(webhook.id, present(id));
      expect(again).toMatchObject({ attempts: 0, responseStatus: 509, history: answers.slice(1).map(tried) });
    });

    it('of a round that is over too, but no failure of what was sent since', async () => {
      const webhook = await store.add();
      await store.ping(webhook, 2);
      const stale = await store.dueRound();
      await store.letPass(MINUTE);
      const current = await store.dueRound();
      await store.settle(current.deliveries[0], { status: 'sent' }, 204);
      await store.settle(stale.deliveries[0], { status: 'queued', pause: 0 }, 500);
      await store.settle(current.deliveries[1], { status: 'failed' }, 500);
      await store.settle(stale.deliveries[1], { status: 'sent' }, 204);
      expect(await store.statusesOf(webhook)).toEqual([`${PING} sent`, `${PING} sent`]);
    });

    it('unless the owner has queued the delivery again since: that is attempted', async () => {
      const webhook = await store.add();
      const [id] = await store.ping(webhook);
      const round = await store.dueRound();
      await deliveries.retry(webhook.id, present(id));
      await store.finish(round);
      const again = await store.dueRound();
      expect(again.deliveries).toMatchObject([{ id, failures: 0, requeued: 1 }]);
      await store.finish(again);
      expect(await store.takeRound()).toBeUndefined();
    });
  });

  it('shows the deliveries of a webhook, newest first, forwards and back, and the body of each', async () => {
    const webhook = await store.add();
    const ids = (await store.ping(webhook, 4)).reverse();
    const list = async (place: PagePosition<DeliveryId>) =>
      (await deliveries.list({ webhookId: webhook.id, limit: 2, ...place })).map(({ id }) => id);
    expect(await list({})).toEqual(ids.slice(0, 2));
    for (const [place, id] of ids.entries()) {
      expect(await list({ after: id })).toEqual(ids.slice(place + 1, place + 3));
      expect(await list({ before: id })).toEqual(ids.slice(Math.max(0, place - 2), place));
    }
    const [newest] = await deliveries.list({ webhookId: webhook.id, limit: 1 });
    const body = `{"type":"${PING}","timestamp":"${new Date(NOON).toISOString()}","data":${pingData(webhook.id)}}`;
    expect(await deliveries.find(webhook.id, present(newest).id)).toEqual({ delivery: newest, body });
    expect(await deliveries.find((await store.add()).id, present(newest).id)).toBeUndefined();
  });

  it('shows the body of an event’s delivery as it is sent, and to nobody else', async () => {
    const [webhook, neighbour] = [await store.add(), await store.add({}, store.other)];
    await store.publishTwo();
    for (const delivery of (await store.finishAll()).flatMap((round) =>
      round.receiver.id === webhook.id ? round.deliveries : [],
    )) {
      expect((await deliveries.find(webhook.id, delivery.id))?.body).toBe(deliveryBody(delivery));
      expect(await deliveries.find(neighbour.id, delivery.id)).toBeUndefined();
    }
  });

  it('shows as many deliveries as are asked for, more than a page, too', async () => {
    const webhook = await store.add({ types: ['pet.added'] });
    await atOnce(102, () => store.addAnimal());
    await store.publish();
    await store.deliver();
    for (const limit of [101, 102]) expect(await deliveries.list({ webhookId: webhook.id, limit })).toHaveLength(limit);
  });

  describe('changes nothing if the transaction fails, in which it', () => {
    const requests: Readonly<Record<string, (id: WebhookId, delivery: DeliveryId, within: Transaction) => unknown>> = {
      pings: (id, _, within) => deliveries.ping(id, NOON, within),
      'locks the webhook again, and pings': (id, _, within) =>
        store.ports.webhooks.lock(
          byOperator({ accountId: store.account.id, id }),
          (_state, same) => deliveries.ping(id, NOON, same),
          within,
        ),
      retries: (id, delivery, within) => deliveries.retry(id, delivery, within),
      recovers: (id, _, within) => deliveries.recover(id, instant(0), within),
    };
    for (const [request, ask] of Object.entries(requests))
      it(request, async () => {
        const webhook = await store.add();
        const [ping] = await store.ping(webhook);
        await store.finishAll();
        const before = await deliveries.list({ webhookId: webhook.id, limit: 10 });
        const refusal = new Error('refused');
        const asking = store.ports.webhooks.lock(byOperator(webhook), async (_, within) => {
          await ask(webhook.id, present(ping), within);
          throw refusal;
        });
        expect(await asking.catch((error: unknown) => error)).toBe(refusal);
        expect(await deliveries.list({ webhookId: webhook.id, limit: 10 })).toEqual(before);
        expect(await store.takeRound()).toBeUndefined();
        expect(await store.ports.webhooks.findById(webhook.accountId, webhook.id)).toMatchObject({
          recoveringSince: undefined,
        });
      });
  });

  describe('queues again', () => {
    it('what has failed with all its attempts, and shows since when until all is queued', async () => {
      const webhook = await store.add({ types: ['pet.added'] });
      await store.letPass(1);
      const [event] = await store.publishTwo();
      const round = await store.dueRound();
      await store.settle(round.deliveries[0], { status: 'failed' }, 500);
      await store.endRound(round);
      const { createdAt: since } = present(event);
      const recovering = async () =>
        (await store.ports.webhooks.findById(webhook.accountId, webhook.id))?.recoveringSince;
      await deliveries.recover(webhook.id, since);
      expect(await recovering()).toBe(since);
      const again = await store.dueRound();
      expect(again.deliveries).toMatchObject([{ id: round.deliveries[0]?.id, failures: 0, requeued: 1 }]);
      expect(await recovering()).toBeUndefined();
    });

    it('a delivery of the webhook, with all its attempts, whatever has become of it', async () => {
      const [webhook, stranger] = [await store.add(), await store.add({}, store.other)];
      const pings = await store.ping(webhook, 3);
      const round = await store.dueRound();
      await store.settle(round.deliveries[0], { status: 'sent' }, 200);
      await store.settle(round.deliveries[1], { status: 'failed' }, 500);
      await store.settle(round.deliveries[2], { status: 'queued', pause: DAY }, 500);
      await store.endRound(round);
      expect(await store.takeRound()).toBeUndefined();
      for (const id of pings) {
        expect(await deliveries.retry(stranger.id, id)).toBeUndefined();
        expect(await deliveries.retry(webhook.id, id)).toMatchObject({ id, status: 'queued', attempts: 0 });
      }
      const [ping = ''] = pings;
      const noHex = `dlv_${'g'.repeat(32)}`;
      for (const id of ['', 'dlv_', 'dlv_1', noHex, `dlv_${'0'.repeat(32)}`, `msg_${ping.slice(4)}`, `${ping}0`])
        expect(await deliveries.retry(webhook.id, id as DeliveryId)).toBeUndefined();
      expect(idsOf(await store.dueRound())).toHaveLength(3);
    });

    it('what has failed, or was never sent, since an instant, also of events from before the webhook', async () => {
      await store.letPass(1);
      const [early] = await store.publishTwo();
      const { createdAt: since } = present(early);
      await store.letPass(1);
      const webhook = await store.add();
      await store.publishTwo();
      const round = await store.dueRound();
      await store.settle(round.deliveries[0], { status: 'sent' }, 200);
      await store.settle(round.deliveries[1], { status: 'failed' }, 500);
      await store.endRound(round);
      await store.change(webhook, { status: 'disabled' });
      await store.publishTwo();
      await store.publishTwo(store.other);
      await store.letPass(1);
      await store.change(webhook, { status: 'enabled' });
      expect(await store.deliver()).toEqual([]);
      await deliveries.recover(webhook.id, later(since, DAY));
      expect(await store.deliver()).toEqual([]);
      await deliveries.recover(webhook.id, since);
      // Two of before, the failed one, two animals and the own message of while it was disabled.
      expect((await store.deliver()).filter(({ createdAt }) => createdAt >= since)).toHaveLength(6);
      await deliveries.recover(webhook.id, since);
      expect(await store.deliver()).toEqual([]);
    });

    it('no ping beside so many that wait, however many events do', async () => {
      const webhook = await store.add();
      await store.publishTwo();
      const round = await store.dueRound();
      for (const delivery of round.deliveries) await store.settle(delivery, { status: 'queued', pause: DAY });
      await store.endRound(round);
      await store.ping(webhook, MOST_PINGS);
      expect(await deliveries.ping(webhook.id, NOON)).toBeUndefined();
      expect(await store.ping(await store.add())).toHaveLength(1);
      await store.deliver();
      expect(await store.ping(webhook)).toHaveLength(1);
    });
  });

  it('says what waits, what fails, and since when a round is due that nobody takes', async () => {
    const none = { waiting: 0, failing: 0, dueSince: undefined };
    expect(await queue.backlog()).toEqual(none);
    const webhook = await store.add();
    await store.publishTwo();
    expect(await queue.backlog()).toEqual({ ...none, waiting: 2 });
    await queue.wake();
    expect((await queue.backlog()).dueSince).toBeDefined();
    const early = (await queue.backlog()).dueSince;
    await store.letPass(MINUTE);
    await store.ping(await store.add({ types: ['order.placed'] }));
    const since = present((await queue.backlog()).dueSince);
    expect(since <= present(early)).toBe(true);
    const round = await store.dueRound();
    await store.finish(await store.dueRound());
    expect(await queue.backlog()).toEqual({ ...none, waiting: 2 });
    for (const delivery of round.deliveries) await store.settle(delivery, { status: 'queued', pause: DAY });
    await store.endRound(round, { failedRounds: 1, failingSince: NOON });
    await store.ping(webhook);
    expect(await queue.backlog()).toEqual({ waiting: 3, failing: 1, dueSince: undefined });
    // As one that failed until it was disabled.
    const last = await store.dueRound();
    await store.endRound(last, { status: 'disabled', failedRounds: 2, failingSince: NOON });
    expect(await queue.backlog()).toEqual(none);
  });

  describe('forgets', () => {
    beforeEach(async () => {
      await queue.purgeForgotten();
    });
    const purgeEvents = ([event]: readonly PublishedEvent[]) =>
      store.ports.events.purge(later(present(event).createdAt, DAY));

    it('the deliveries of purged events: they are neither sent, shown nor queued again, and then deleted', async () => {
      const webhook = await store.add();
      const events = await store.publishTwo();
      const round = await store.dueRound();
      await store.settle(round.deliveries[1], { status: 'failed' });
      await store.endRound(round);
      const pings = await store.ping(webhook);
      await purgeEvents(events);
      expect(await store.statusesOf(webhook)).toEqual([`${PING} queued`]);
      for (const id of idsOf(round)) expect(await deliveries.retry(webhook.id, id)).toBeUndefined();
      await deliveries.recover(webhook.id, instant(0));
      expect((await store.deliver()).map(({ id }) => id)).toEqual(pings);
      expect([await queue.purgeForgotten(), await queue.purgeForgotten()]).toEqual([2, 0]);
    });

    it('no delivery of an event that is kept', async () => {
      const webhook = await store.add({ types: ['pet.added'] });
      const purged = await store.publishTwo();
      await store.letPass(DAY);
      await store.publishTwo();
      await store.deliver();
      await store.ports.events.purge(present(purged.at(-1)).createdAt);
      expect(await queue.purgeForgotten()).toBe(1);
      expect(await store.statusesOf(webhook)).toEqual(['pet.added sent']);
    });

    it('the deliveries of webhooks that were deleted', async () => {
      const webhook = await store.add();
      await store.ping(webhook, 3);
      await store.publishTwo();
      await store.dueRound();
      await store.remove(webhook);
      expect(await store.takeRound()).toBeUndefined();
      expect([await queue.purgeForgotten(), await queue.purgeForgotten()]).toEqual([5, 0]);
    });

    it('pings by their age, and no delivery of an event', async () => {
      const events = await store.add({ types: ['pet.added'] }, store.other);
      await store.publishTwo();
      await store.deliver();
      await queue.purgePings(later(NOON, 100 * 365 * DAY));
      expect(await store.statusesOf(events)).toEqual(['pet.added sent']);
      const webhook = await store.add({ types: ['order.placed'] });
      await store.ping(webhook);
      await queue.purgePings(later(NOON, -1));
      expect(await store.statusesOf(webhook)).toHaveLength(1);
      expect(await queue.purgePings(NOON)).toBeGreaterThanOrEqual(1);
      expect(await store.statusesOf(webhook)).toEqual([]);
      await store.ping(webhook);
      expect(await store.takeRound()).toBeDefined();
    });
  });
}
