import type { AccountMailId } from '../../accounts/mails/account-mail.js';
import type { Account } from '../../accounts/account.js';
import { newAnimal } from '../../animals/animal.js';
import { EVENT_TYPES, type PublishedEvent } from '../../events/event.js';
import { DAY, HOUR, instant, later, MINUTE, SECOND } from '../../kernel/clock.js';
import type { PagePlace } from '../../kernel/page.js';
import type { MessageId } from '../../messages/message.js';
import {
  type DeliveryId,
  type DueDelivery,
  PING,
  pingData,
  type Receiver,
  type Turn,
} from '../../webhooks/delivery.js';
import { MOST_PINGS, type Webhook, type WebhookFields } from '../../webhooks/webhook.js';
import type { EndedTurn, TurnRequest, WebhookQueue } from '../../webhooks/webhook-queue.js';
import { atOnce, byOperator, NOON, tried, Unique } from './fixtures.js';
import type { OpenedQueue, OpenQueue, TestFramework } from './framework.js';
import { newWebhook } from './webhook-repository.js';

type Needed = 'accountMails' | 'accounts' | 'animals' | 'events' | 'messages' | 'webhookDeliveries' | 'webhooks';

/** The time that a test may take: what is due then may be due by now. */
const MARGIN = 20 * SECOND;

/** The guarantees of every `WebhookQueue`. */
export function webhookQueueSuite(framework: TestFramework, name: string, open: OpenQueue<Needed>): void {
  const { describe, it, beforeAll, beforeEach, afterAll, afterEach, expect } = framework;
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
        for (const webhook of await ports.webhooks.list(owner.id)) await remove(webhook);
    });

    const letPass = async (milliseconds: number) => adapters.letPass(milliseconds);
    const add = (fields: Partial<WebhookFields> = {}, owner = account) =>
      ports.webhooks.add(byOperator({ accountId: owner.id }), () => newWebhook(owner, unique, fields));
    const remove = ({ accountId, id }: Webhook) =>
      ports.webhooks.remove(byOperator({ accountId, id }), () => undefined);
    const change = ({ accountId, id }: Webhook, fields: Partial<WebhookFields>) =>
      ports.webhooks.change(byOperator({ accountId, id }), ({ webhook }) => ({ ...given(webhook), ...fields }));
    const ping = async ({ id }: Webhook, times = 1) => {
      const pings: DeliveryId[] = [];
      while (pings.length < times) pings.push(given(await queue.ping(id, NOON)).id);
      return pings;
    };
    const publish = async () => {
      while ((await ports.events.publish(1_000)) > 0);
    };
    /** Makes an event for everybody and one for the account, and publishes them. */
    const happen = async (owner = account): Promise<readonly PublishedEvent[]> => {
      const page = { accountId: owner.id, types: EVENT_TYPES, limit: 100 };
      const { end } = await ports.events.list(page);
      await ports.animals.add(newAnimal({ name: unique.name(), categoryId: 1n }));
      const id = unique.name() as MessageId;
      await ports.messages.add({ id, accountId: owner.id, text: '"\\ 🐈', createdAt: NOON });
      await ports.messages.markSent(id);
      await publish();
      return (await ports.events.list({ ...page, after: end })).events;
    };

    /** Takes a turn, as a worker that has published. */
    const take = async (request: Partial<TurnRequest> = {}): Promise<Turn | undefined> => {
      await queue.wake();
      return queue.takeTurn({ limit: 20, lease: MINUTE, ...request });
    };
    const taken = async (request: Partial<TurnRequest> = {}): Promise<Turn> => given(await take(request));
    /** The end of a turn after which the receiver is as before. */
    const unchanged = (receiver: Receiver): EndedTurn => ({ end: { ...receiver, pause: 0, isFailing: false } });
    const endTurn = (turn: Turn, end: Partial<EndedTurn['end']> = {}, took = 10) =>
      queue.endTurn(turn, took, (receiver) => ({ end: { ...unchanged(receiver).end, ...end } }));
    const sendAll = async (turn: Turn) => {
      await Promise.all(turn.deliveries.map((delivery) => queue.settle(delivery, { status: 'sent' }, tried(204))));
      await endTurn(turn);
      return turn.deliveries;
    };
    /** Sends everything that is due, and returns it. */
    const deliver = async (): Promise<readonly DueDelivery[]> => {
      const delivered: DueDelivery[] = [];
      for (let turn = await take(); turn !== undefined; turn = await take()) delivered.push(...(await sendAll(turn)));
      return delivered;
    };
    const idsOf = ({ deliveries }: Turn) => deliveries.map(({ id }) => id);
    const statusesOf = async ({ id }: Webhook) =>
      (await queue.list({ webhookId: id, limit: 100 })).map(({ type, status }) => `${type} ${status}`);

    describe('follows the feed', () => {
      it('with each enabled webhook that an event is for, and sends it as the feed shows it', async () => {
        const all = await add();
        const some = await add({ types: ['pet.added', 'order.placed'] });
        const otherType = await add({ types: ['order.placed'] });
        const foreign = await add({}, other);
        const disabled = await add({ status: 'disabled' });
        const events = await happen();
        expect(events.map(({ type }) => type)).toEqual(['pet.added', 'message.sent']);
        const delivered = new Map<string, readonly unknown[]>();
        for (let turn = await take(); turn !== undefined; turn = await take()) {
          const shown = await sendAll(turn);
          delivered.set(
            turn.receiver.id,
            shown.map(({ eventId: id, type, createdAt, data }) => ({ id, type, createdAt, data })),
          );
        }
        const expected = events.map(({ position, ...event }) => event);
        expect(delivered.get(all.id)).toEqual(expected);
        expect(delivered.get(some.id)).toEqual(expected.slice(0, 1));
        expect(delivered.get(foreign.id)).toEqual(expected.slice(0, 1));
        expect([delivered.size, await statusesOf(otherType), await statusesOf(disabled)]).toEqual([3, [], []]);
      });

      it('from a webhook’s creation on, however late an event of before is published', async () => {
        await ports.animals.add(newAnimal({ name: unique.name(), categoryId: 1n }));
        await letPass(1);
        await add();
        await publish();
        expect(await take()).toBeUndefined();
        await happen();
        expect(await deliver()).toHaveLength(2);
      });

      it('in portions, so that no more is stored than is soon sent', async () => {
        const webhook = await add({ types: ['pet.added'] });
        await atOnce(230, () => ports.animals.add(newAnimal({ name: unique.name(), categoryId: 1n })));
        await publish();
        await sendAll(await taken());
        expect(await queue.list({ webhookId: webhook.id, limit: 1_000 })).toHaveLength(100);
        expect((await queue.backlog()).waiting).toBe(210);
        const delivered = await deliver();
        expect([delivered.length, new Set(delivered.map(({ eventId }) => eventId)).size]).toEqual([210, 210]);
      });

      it('with fewer events in a turn if they are large', async () => {
        // Each character has six in JSON.
        await add({ types: ['message.sent'] });
        for (let count = 0; count < 6; count += 1) {
          const id = unique.name() as MessageId;
          await ports.messages.add({ id, accountId: account.id, text: '\u0001'.repeat(4_096), createdAt: NOON });
          await ports.messages.markSent(id);
        }
        await publish();
        const sizes: number[] = [];
        for (let turn = await take(); turn !== undefined; turn = await take()) {
          sizes.push((await sendAll(turn)).length);
        }
        expect(sizes).toEqual([2, 2, 2]);
      });

      it('and leaves nothing behind, however publishing and the ends of turns race', async () => {
        const receivers = [await add(), await add({ types: ['pet.added'] })];
        let publishing = 1;
        const deliverAll = async () => {
          const delivered: string[] = [];
          for (let isLast = false; !isLast;) {
            // Read before the turn, which then finds what is left.
            isLast = publishing === 0;
            const turn = await take({ limit: 3 });
            if (turn === undefined) continue;
            isLast = false;
            for (const { data } of await sendAll(turn)) delivered.push(`${turn.receiver.id} ${data}`);
          }
          return delivered;
        };
        const delivering = atOnce(3, deliverAll);
        for (let round = 0; round < 25; round += 1) await happen();
        publishing = 0;
        const delivered = (await delivering).flat();
        expect([delivered.length, new Set(delivered).size]).toEqual([75, 75]);
        for (const webhook of receivers) {
          expect((await statusesOf(webhook)).filter((each) => !each.endsWith('sent'))).toEqual([]);
        }
      });
    });

    describe('gives turns', () => {
      it('of one receiver to one caller at a time, with no more than asked for', async () => {
        const webhook = await add();
        const pings = await ping(webhook, 3);
        const turn = await taken({ limit: 2 });
        expect(idsOf(turn)).toEqual(pings.slice(0, 2));
        expect(turn.deliveries[0]).toMatchObject({
          type: PING,
          createdAt: NOON,
          data: pingData(webhook.id),
          failures: 0,
        });
        const { url, accountId, id } = webhook;
        expect(turn.receiver).toMatchObject({ id, url, accountId, status: 'enabled', failedTurns: 0 });
        await ping(webhook);
        expect(await take()).toBeUndefined();
        await sendAll(turn);
        expect(idsOf(await taken())).toHaveLength(2);
      });

      it('again once the lease is over, and ignores the end of a turn that a later one has followed', async () => {
        const webhook = await add();
        const pings = await ping(webhook);
        const stale = await taken();
        await letPass(MINUTE - MARGIN);
        expect(await take()).toBeUndefined();
        await letPass(MARGIN);
        const current = await taken();
        expect([current.number > stale.number, idsOf(current)]).toEqual([true, pings]);
        await endTurn(stale, { status: 'disabled' });
        expect(await take()).toBeUndefined();
        expect((await ports.webhooks.findById(account.id, webhook.id))?.status).toBe('enabled');
      });

      it('to nobody twice of many concurrent callers, and leaves no receiver out', async () => {
        const webhooks = await atOnce(8, () => add());
        for (const webhook of webhooks) await ping(webhook);
        const turns = (await atOnce(12, () => take())).filter((turn) => turn !== undefined);
        for (let turn = await take(); turn !== undefined; turn = await take()) turns.push(turn);
        expect(turns.map(({ receiver }) => receiver.id).sort()).toEqual(webhooks.map(({ id }) => id).sort());
      });

      it('first to an account with fewer open turns, then to a receiver whose last turn was shorter', async () => {
        const [slow, quick, busy] = [await add(), await add(), await add()];
        for (const [webhook, took] of [
          [slow, 9_000],
          [quick, 20],
          [busy, 10],
        ] as const) {
          await ping(webhook);
          const turn = await taken();
          for (const delivery of turn.deliveries) await queue.settle(delivery, { status: 'sent' }, tried());
          await endTurn(turn, {}, took);
        }
        for (const webhook of [slow, quick, busy]) await ping(webhook);
        expect((await taken()).receiver.id).toBe(busy.id);
        const late = await add({}, other);
        await ping(late);
        expect((await taken({ longestTurn: SECOND })).receiver.id).toBe(quick.id);
        expect(await take({ longestTurn: SECOND })).toBeUndefined();
        expect((await taken()).receiver.id).toBe(late.id);
        expect((await taken()).receiver.id).toBe(slow.id);
      });

      it('to no webhook of an account that lacks a scope, until it has all', async () => {
        await add({}, other);
        const events = await happen(other);
        const setScopes = (scopes: Account['scopes']) =>
          ports.accounts.change(other.email, (found) => ({ ...given(found), scopes }));
        for (const scope of ['events:read', 'webhooks:write', 'pets:read'] as const) {
          await setScopes([scope]);
          expect([await take(), (await queue.backlog()).dueSince]).toEqual([undefined, undefined]);
        }
        await setScopes(['webhooks:write', 'events:read']);
        expect((await deliver()).map(({ eventId }) => eventId)).toEqual(events.map(({ id }) => id));
        await setScopes(undefined);
      });

      it('after the pause of the last one, whatever happens meanwhile', async () => {
        await add();
        await happen();
        const failing = { failedTurns: 2, failingSince: later(NOON, -HOUR), pause: HOUR };
        await endTurn(await taken(), failing);
        await happen();
        await letPass(HOUR - MINUTE);
        expect(await take()).toBeUndefined();
        await letPass(MINUTE);
        const { receiver } = await taken();
        expect(receiver).toMatchObject({ failedTurns: 2, failingSince: failing.failingSince });
        expect(given(receiver.attemptedAt)).toBeGreaterThanOrEqual(1);
      });

      const requests: Readonly<Record<string, (webhook: Webhook, delivery: DeliveryId) => Promise<unknown>>> = {
        'a ping': ({ id }) => queue.ping(id, NOON),
        'a retry': ({ id }, delivery) => queue.retry(id, delivery),
        'a recovery': ({ id }) => queue.recover(id, instant(0)),
        'another URL': (webhook) => change(webhook, { url: 'https://new.example.com' }),
      };
      for (const [request, ask] of Object.entries(requests)) {
        it(`during that pause if the owner wants it: ${request}`, async () => {
          const webhook = await add();
          const [delivery] = await ping(webhook);
          await endTurn(await taken(), { pause: HOUR });
          expect(await take()).toBeUndefined();
          await ask(webhook, given(delivery));
          expect(await take()).toBeDefined();
        });
      }
    });

    describe('ends a turn', () => {
      it('of a webhook that was changed meanwhile as it is then, and gives nobody else its turn before', async () => {
        const webhook = await add();
        await ping(webhook, 2);
        const turn = await taken({ limit: 1 });
        for (const url of ['https://new.example.com', 'https://newer.example.com']) {
          await change(webhook, { url });
          await queue.retry(webhook.id, given(turn.deliveries[0]).id);
          expect(await take()).toBeUndefined();
        }
        const seen: string[] = [];
        await queue.endTurn(turn, 10, (receiver) => {
          seen.push(receiver.url);
          return unchanged(receiver);
        });
        expect(seen).toEqual(['https://newer.example.com']);
        expect((await taken()).receiver.url).toBe('https://newer.example.com');
      });

      it('with a webhook disabled, mails the notice, and sends nothing until it is enabled', async () => {
        const webhook = await add();
        await ping(webhook, 2);
        const notice = {
          id: unique.name() as AccountMailId,
          accountId: account.id,
          kind: 'webhook',
          page: '',
          about: webhook.url,
          createdAt: NOON,
          expiresAt: later(NOON, DAY),
        } as const;
        const turn = await taken({ limit: 1 });
        const disabled = { status: 'disabled', updatedAt: later(NOON, HOUR) } as const;
        await queue.endTurn(turn, 10, (receiver) => ({ end: { ...unchanged(receiver).end, ...disabled }, notice }));
        expect(await ports.webhooks.findById(account.id, webhook.id)).toMatchObject(disabled);
        await letPass(DAY);
        expect([await take(), (await queue.backlog()).waiting]).toEqual([undefined, 0]);
        const [waiting] = await queue.list({ webhookId: webhook.id, limit: 1 });
        expect(waiting).toMatchObject({ status: 'queued', nextAttemptAt: undefined });
        const mails = await ports.accountMails.claim({ limit: 10, lease: MINUTE });
        expect(mails).toMatchObject([{ kind: 'webhook', email: account.email, about: webhook.url }]);
        await change(webhook, { status: 'enabled' });
        expect(idsOf(await taken())).toHaveLength(2);
      });

      it('that disables a webhook, which later gets what it hadn’t taken, and nothing from while it was disabled', async () => {
        const webhook = await add({ types: ['message.sent'] });
        await ping(webhook);
        const turn = await taken();
        const before = (await happen()).at(-1);
        await endTurn(turn, { status: 'disabled' });
        await letPass(1);
        await happen();
        await ports.animals.add(newAnimal({ name: unique.name(), categoryId: 1n }));
        await letPass(1);
        await change(webhook, { status: 'enabled' });
        await letPass(1);
        const after = (await happen()).at(-1);
        const delivered = (await deliver()).flatMap(({ eventId }) => eventId ?? []);
        expect(delivered.sort()).toEqual([before?.id, after?.id].sort());
      });
    });

    describe('records an attempt', () => {
      it('as sent for good, as failed, or as due again after a pause', async () => {
        const webhook = await add();
        const [sent, postponed, failed, waiting] = await ping(webhook, 4);
        await ping(await add({}, other));
        const turn = await taken({ limit: 3 });
        for (const delivery of turn.deliveries) {
          if (delivery.id === sent) await queue.settle(delivery, { status: 'sent' }, tried(204));
          if (delivery.id === postponed) await queue.settle(delivery, { status: 'queued', pause: HOUR }, tried(500));
          if (delivery.id === failed) await queue.settle(delivery, { status: 'failed' }, tried());
        }
        await endTurn(turn);
        const list = (place: PagePlace<DeliveryId> = {}, limit = 2) =>
          queue.list({ webhookId: webhook.id, limit, ...place });
        const all = await list({}, 100);
        const attempted = (status?: number) => ({ attempts: 1, responseStatus: status, history: [tried(status)] });
        const ofPing = { eventId: undefined, type: PING, createdAt: NOON, history: [] };
        expect(
          all.map(({ nextAttemptAt, ...delivery }) => ({ ...delivery, isNext: nextAttemptAt !== undefined })),
        ).toEqual([
          { ...ofPing, id: waiting, status: 'queued', attempts: 0, responseStatus: undefined, isNext: true },
          { ...ofPing, id: failed, status: 'failed', ...attempted(undefined), isNext: false },
          { ...ofPing, id: postponed, status: 'queued', ...attempted(500), isNext: true },
          { ...ofPing, id: sent, status: 'sent', ...attempted(204), isNext: false },
        ]);
        for (const [place, { id }] of all.entries()) {
          expect(await list({ after: id })).toEqual(all.slice(place + 1, place + 3));
          expect(await list({ before: id })).toEqual(all.slice(Math.max(0, place - 2), place));
        }
        const body = `{"type":"${PING}","timestamp":"${new Date(NOON).toISOString()}","data":${pingData(webhook.id)}}`;
        expect(await queue.find(webhook.id, given(sent))).toEqual({ delivery: all[3], body });
        expect(await queue.find((await add()).id, given(sent))).toBeUndefined();
        expect(idsOf(await taken())).toEqual([waiting]);
        await letPass(HOUR);
        expect(await taken()).toMatchObject({ deliveries: [{ id: waiting }, { id: postponed, failures: 1 }] });
      });

      it('in a history of the last ten, which a retry keeps', async () => {
        const webhook = await add();
        await ping(webhook);
        const [delivery] = (await taken()).deliveries;
        const answers = [undefined, ...Array.from({ length: 10 }, (_, index) => 500 + index)];
        for (const each of answers) await queue.settle(given(delivery), { status: 'queued', pause: 0 }, tried(each));
        const again = await queue.retry(webhook.id, given(delivery).id);
        expect(again).toMatchObject({ attempts: 0, responseStatus: 509, history: answers.slice(1).map(tried) });
      });

      it('of a turn that is over too, but no failure of what was sent since', async () => {
        const webhook = await add();
        await ping(webhook);
        const stale = await taken();
        await letPass(MINUTE);
        const current = await taken();
        const [first, again] = [given(stale.deliveries[0]), given(current.deliveries[0])];
        await queue.settle(again, { status: 'sent' }, tried(204));
        await queue.settle(first, { status: 'queued', pause: 0 }, tried(500));
        expect(await statusesOf(webhook)).toEqual([`${PING} sent`]);
      });

      it('unless the owner has queued the delivery again since: that is attempted', async () => {
        const webhook = await add();
        await ping(webhook);
        const turn = await taken();
        const [attempted] = turn.deliveries;
        await queue.retry(webhook.id, given(attempted).id);
        await sendAll(turn);
        const again = await taken();
        expect(again.deliveries).toMatchObject([{ id: attempted?.id, failures: 0, requeued: 1 }]);
        await sendAll(again);
        expect(await take()).toBeUndefined();
      });
    });

    describe('queues again', () => {
      it('a delivery of the webhook, with all its attempts, whatever has become of it', async () => {
        const [webhook, stranger] = [await add(), await add({}, other)];
        const [sent, failed, waiting] = await ping(webhook, 3);
        const turn = await taken();
        for (const delivery of turn.deliveries) {
          if (delivery.id === sent) await queue.settle(delivery, { status: 'sent' }, tried(200));
          else if (delivery.id === failed) await queue.settle(delivery, { status: 'failed' }, tried(500));
          else await queue.settle(delivery, { status: 'queued', pause: DAY }, tried(500));
        }
        await endTurn(turn);
        expect(await take()).toBeUndefined();
        for (const id of [sent, failed, waiting].map(given)) {
          expect(await queue.retry(stranger.id, id)).toBeUndefined();
          expect(await queue.retry(webhook.id, id)).toMatchObject({ id, status: 'queued', attempts: 0 });
        }
        const noIds = [
          '',
          'dlv_',
          'dlv_1',
          `dlv_${'0'.repeat(32)}`,
          `dlv_${'g'.repeat(32)}`,
          `msg_${sent?.slice(4)}`,
          `${sent}0`,
          `${sent}x`,
        ];
        for (const id of noIds as DeliveryId[]) expect(await queue.retry(webhook.id, id)).toBeUndefined();
        expect(idsOf(await taken())).toHaveLength(3);
      });

      it('what has failed, or was never sent, since an instant, also of events from before the webhook', async () => {
        const [early] = await happen();
        await letPass(1);
        const webhook = await add();
        await happen();
        const turn = await taken();
        for (const [index, delivery] of turn.deliveries.entries()) {
          await queue.settle(delivery, { status: index === 0 ? 'sent' : 'failed' }, tried(200));
        }
        await endTurn(turn);
        await change(webhook, { status: 'disabled' });
        await happen();
        await happen(other);
        await letPass(1);
        await change(webhook, { status: 'enabled' });
        expect(await deliver()).toEqual([]);
        await queue.recover(webhook.id, later(early?.createdAt ?? NOON, DAY));
        expect(await deliver()).toEqual([]);
        for (const count of [6, 0]) {
          // Two of before, the failed one, two animals and the own message of while it was disabled.
          await queue.recover(webhook.id, early?.createdAt ?? NOON);
          expect((await deliver()).filter(({ createdAt }) => createdAt >= (early?.createdAt ?? NOON))).toHaveLength(
            count,
          );
        }
      });

      it('no ping beside so many that wait', async () => {
        const webhook = await add();
        await ping(webhook, MOST_PINGS);
        expect(await queue.ping(webhook.id, NOON)).toBeUndefined();
        await deliver();
        expect(await ping(webhook)).toHaveLength(1);
      });
    });

    it('says what waits, what fails, and since when a turn is due that nobody takes', async () => {
      const none = { waiting: 0, failing: 0, dueSince: undefined };
      expect(await queue.backlog()).toEqual(none);
      const webhook = await add();
      await happen();
      expect(await queue.backlog()).toEqual({ ...none, waiting: 2 });
      await queue.wake();
      const { dueSince } = await queue.backlog();
      expect(given(dueSince)).toBeGreaterThanOrEqual(1);
      const turn = await taken();
      expect(await queue.backlog()).toEqual({ ...none, waiting: 2 });
      for (const delivery of turn.deliveries) await queue.settle(delivery, { status: 'queued', pause: DAY }, tried());
      await endTurn(turn, { failedTurns: 1, failingSince: NOON });
      await ping(webhook);
      expect(await queue.backlog()).toEqual({ waiting: 3, failing: 1, dueSince: undefined });
      await change(webhook, { status: 'disabled' });
      expect(await queue.backlog()).toEqual(none);
    });

    describe('forgets', () => {
      beforeEach(async () => {
        await queue.purgeForgotten();
      });
      const purgeEvents = async ([event]: readonly PublishedEvent[]) =>
        ports.events.purge(later(event?.createdAt ?? NOON, DAY));

      it('the deliveries of purged events: they are neither sent, shown nor queued again, and then deleted', async () => {
        const webhook = await add();
        const events = await happen();
        const turn = await taken();
        const [queued, failed] = turn.deliveries;
        await queue.settle(given(failed), { status: 'failed' }, tried());
        await endTurn(turn);
        const [pinged] = await ping(webhook);
        await purgeEvents(events);
        expect(await statusesOf(webhook)).toEqual([`${PING} queued`]);
        for (const each of [queued, failed]) expect(await queue.retry(webhook.id, given(each).id)).toBeUndefined();
        await queue.recover(webhook.id, instant(0));
        expect((await deliver()).map(({ id }) => id)).toEqual([pinged]);
        expect(await queue.purgeForgotten()).toBe(2);
        expect(await queue.purgeForgotten()).toBe(0);
      });

      it('the deliveries of webhooks that were deleted', async () => {
        const webhook = await add();
        await ping(webhook, 3);
        await happen();
        await taken();
        await remove(webhook);
        expect([await take(), await queue.purgeForgotten(), await queue.purgeForgotten()]).toEqual([undefined, 5, 0]);
      });

      it('pings by their age', async () => {
        const webhook = await add();
        await ping(webhook);
        await queue.purgePings(later(NOON, -1));
        expect(await statusesOf(webhook)).toHaveLength(1);
        expect(await queue.purgePings(NOON)).toBeGreaterThanOrEqual(1);
        expect(await statusesOf(webhook)).toEqual([]);
        await ping(webhook);
        expect(await taken()).toBeDefined();
      });
    });
  });
}

function given<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('it is missing');
  return value;
}
