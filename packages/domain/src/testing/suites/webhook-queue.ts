import type { AccountMailId } from '../../accounts/mails/account-mail.js';
import type { Account } from '../../accounts/account.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE, SECOND } from '../../kernel/clock.js';
import { type DeliveryId, PING, pingData, type Receiver, type Round } from '../../webhooks/delivery.js';
import type { Webhook } from '../../webhooks/webhook.js';
import { atOnce, byOperator, claimOne, expectDecidedOnce, NOON, openBefore, present, Unique } from './fixtures.js';
import type { OpenQueue, TestFramework } from './framework.js';
import { webhookDeliveries } from './webhook-deliveries.js';
import { idsOf, openWebhookStore, roundEnd, type WebhookPorts, type WebhookStore } from './webhook-store.js';

/** The time that a test may take: what is due then may be due by now. */
const MARGIN = 20 * SECOND;

/** The guarantees of every `WebhookQueue`. */
export function webhookQueueSuite(framework: TestFramework, name: string, open: OpenQueue<WebhookPorts>): void {
  const { describe, it, afterEach, expect } = framework;
  describe(`a webhook queue (${name})`, () => {
    const unique = new Unique();
    let store: WebhookStore;
    openBefore(framework, open, async (adapters) => {
      store = await openWebhookStore(adapters, unique);
    });
    afterEach(() => store.clear());

    describe('follows the feed', () => {
      it('with each enabled webhook that an event is for, and sends it as the feed shows it', async () => {
        const all = await store.add();
        const some = await store.add({ types: ['pet.added', 'order.placed'] });
        const foreign = await store.add({}, store.other);
        const others = [await store.add({ types: ['order.placed'] }), await store.add({ status: 'disabled' })];
        const events = await store.publishTwo();
        expect(events.map(({ type }) => type)).toEqual(['pet.added', 'message.sent']);
        const expected = events.map(({ position, ...event }) => event);
        const sent = new Map(
          (await store.finishAll()).map(({ receiver, deliveries }) => [
            receiver.id,
            deliveries.map(({ eventId: id, type, sequence, createdAt, data }) => ({
              id,
              type,
              sequence,
              createdAt,
              data,
            })),
          ]),
        );
        expect(sent).toEqual(
          new Map([
            [all.id, expected],
            [some.id, expected.slice(0, 1)],
            [foreign.id, expected.slice(0, 1)],
          ]),
        );
        for (const other of others) expect(await store.statusesOf(other)).toEqual([]);
      });

      it('and sends an event that is due again as it was the first time', async () => {
        await store.add();
        await store.publishTwo();
        const round = await store.dueRound();
        for (const delivery of round.deliveries) await store.settle(delivery, { status: 'queued', pause: 0 }, 500);
        await store.endRound(round);
        const again = round.deliveries.map((delivery) => ({ ...delivery, failures: 1 }));
        expect((await store.dueRound()).deliveries).toEqual(again);
      });

      it('and wakes those that an event waits for, and no others', async () => {
        for (const fields of [{}, { types: ['message.sent'] }, { status: 'disabled' }] as const)
          await store.add(fields);
        await store.publishTwo(store.other);
        expect([await store.queue.wake(), await store.queue.wake()]).toEqual([1, 0]);
      });

      it('from a webhook’s creation on, however late an event of before is published', async () => {
        await store.addAnimal();
        await store.letPass(1);
        await store.add();
        await store.publish();
        expect(await store.takeRound()).toBeUndefined();
        await store.publishTwo();
        expect(await store.deliver()).toHaveLength(2);
      });

      it('in portions, so that no more is stored than is soon sent', async () => {
        const webhook = await store.add({ types: ['pet.added'] });
        await atOnce(230, () => store.addAnimal());
        await store.publish();
        await store.finish(await store.dueRound());
        expect(await store.statusesOf(webhook)).toHaveLength(100);
        expect((await store.queue.backlog()).waiting).toBe(210);
        const delivered = await store.deliver();
        expect([delivered.length, new Set(delivered.map(({ eventId }) => eventId)).size]).toEqual([210, 210]);
      });

      it('with fewer events in a round if they are large', async () => {
        await store.add({ types: ['message.sent'] });
        // Each character has six in JSON.
        for (let count = 0; count < 6; count += 1) await store.sendMessage('\u0001'.repeat(4_096));
        await store.publish();
        expect((await store.finishAll()).map(({ deliveries }) => deliveries.length)).toEqual([2, 2, 2]);
      });

      it('and leaves nothing behind, however publishing and the ends of rounds race', async () => {
        const receivers = [await store.add(), await store.add({ types: ['pet.added'] })];
        let isPublishing = true;
        const deliverAll = async () => {
          const delivered: string[] = [];
          for (let isLast = false; !isLast;) {
            // Read before the round, which then finds what is left.
            isLast = !isPublishing;
            const round = await store.takeRound({ limit: 3 });
            if (round === undefined) continue;
            isLast = false;
            await store.finish(round);
            delivered.push(...round.deliveries.map(({ data }) => `${round.receiver.id} ${data}`));
          }
          return delivered;
        };
        const delivering = atOnce(2, deliverAll);
        for (let round = 0; round < 2; round += 1) await store.publishTwo();
        isPublishing = false;
        const delivered = (await delivering).flat();
        expect([delivered.length, new Set(delivered).size]).toEqual([6, 6]);
        const statuses = (await Promise.all(receivers.map((webhook) => store.statusesOf(webhook)))).flat();
        expect(statuses.filter((each) => !each.endsWith('sent'))).toEqual([]);
      });
    });

    describe('gives rounds', () => {
      it('of one receiver to one caller at a time, with no more than asked for', async () => {
        const webhook = await store.add();
        const pings = await store.ping(webhook, 3);
        const [event] = await store.publishTwo();
        const round = await store.dueRound({ limit: 2 });
        expect(await store.statusesOf(webhook)).toHaveLength(3);
        const begun = round.takenAt - present(event).createdAt;
        expect([begun >= 0, begun < MINUTE]).toEqual([true, true]);
        expect(idsOf(round)).toEqual(pings.slice(0, 2));
        const ping = { type: PING, createdAt: NOON, data: pingData(webhook.id), failures: 0 };
        expect(round.deliveries[0]).toMatchObject(ping);
        const { url, accountId, id } = webhook;
        expect(round.receiver).toMatchObject({ id, url, accountId, status: 'enabled', failedRounds: 0 });
        await store.ping(webhook);
        expect(await store.takeRound()).toBeUndefined();
        await store.finish(round);
        expect(idsOf(await store.dueRound())).toHaveLength(4);
      });

      it('of what nobody changes at the moment, without waiting for the others', async () => {
        const [held, free] = [await store.add(), await store.add({}, store.other)];
        for (const isDue of [false, true]) {
          await store.publishTwo();
          if (isDue) await store.queue.wake();
          const rounds = await store.ports.webhooks.lock(byOperator(held), () => store.finishAll());
          expect(rounds.map(({ receiver }) => receiver.id)).toContain(free.id);
          await store.finishAll();
        }
      });

      it('again once the lease is over, and ignores the end of a round that a later one has followed', async () => {
        const webhook = await store.add();
        const pings = await store.ping(webhook);
        const stale = await store.dueRound();
        await store.letPass(MINUTE - MARGIN);
        expect(await store.takeRound()).toBeUndefined();
        await store.letPass(MARGIN);
        const current = await store.dueRound();
        expect([current.number > stale.number, idsOf(current)]).toEqual([true, pings]);
        await store.endRound(stale, { status: 'disabled' });
        expect(await store.takeRound()).toBeUndefined();
        expect((await store.ports.webhooks.findById(webhook.accountId, webhook.id))?.status).toBe('enabled');
      });

      it('to nobody twice of many concurrent callers, and leaves no receiver out', async () => {
        const webhooks = await atOnce(8, () => store.add());
        for (const webhook of webhooks) await store.ping(webhook);
        const taken = await atOnce(12, () => store.queue.takeRound({ limit: 20, lease: MINUTE }));
        const rounds = taken.filter((round) => round !== undefined);
        rounds.push(...(await store.finishAll()));
        expect(rounds.map(({ receiver }) => receiver.id).sort()).toEqual(webhooks.map(({ id }) => id).sort());
      });

      const tookBefore = async (took: number) => {
        const webhook = await store.add();
        for (const each of [MINUTE, took]) {
          await store.ping(webhook);
          await store.finish(await store.dueRound(), each);
        }
        return webhook;
      };
      const next = async (longestRound?: number) => (await store.takeRound({ longestRound }))?.receiver.id;

      it('first to an account with fewer open rounds, then to a receiver whose last round was shorter', async () => {
        const [slow, slower] = [await tookBefore(5_000), await tookBefore(9_000)];
        const [quick, quickest] = [await tookBefore(SECOND), await tookBefore(10)];
        for (const webhook of [slower, slow, quick, quickest]) await store.ping(webhook);
        expect(await next()).toBe(quickest.id);
        const foreign = await store.add({}, store.other);
        await store.ping(foreign);
        expect(await next(SECOND)).toBe(quick.id);
        expect(await next(SECOND)).toBeUndefined();
        for (const { id } of [foreign, slow, slower]) expect(await next()).toBe(id);
      });

      it('to a new receiver before a slow one, unless that has waited for long', async () => {
        const slow = await tookBefore(9_000);
        for (const pause of [0, HOUR]) {
          await store.ping(slow);
          await store.letPass(pause);
          const fresh = await store.add();
          await store.ping(fresh);
          const [first, second] = [await store.dueRound(), await store.dueRound()];
          const expected = pause === 0 ? [fresh.id, slow.id] : [slow.id, fresh.id];
          expect([first.receiver.id, second.receiver.id]).toEqual(expected);
          await store.finish(first, 9_000);
          await store.finish(second, 9_000);
        }
      });

      it('to the accounts in turn, however many receivers of one have been due for longer', async () => {
        for (let count = 0; count < 3; count += 1) await store.add();
        await store.publishTwo();
        await store.dueRound();
        const foreign = await store.add({}, store.other);
        await store.ping(foreign);
        expect((await store.dueRound()).receiver.id).toBe(foreign.id);
        expect((await store.dueRound()).receiver.accountId).toBe(store.account.id);
      });

      it('to no webhook of an account that lacks a scope, until it has all', async () => {
        const { accounts } = store.ports;
        await store.add({}, store.other);
        const events = await store.publishTwo(store.other);
        const setScopes = (scopes: Account['scopes']) =>
          accounts.change(store.other.email, (found) => ({ ...present(found), scopes }));
        for (const scope of ['events:read', 'webhooks:write', 'pets:read'] as const) {
          await setScopes([scope]);
          expect([await store.takeRound(), (await store.queue.backlog()).waiting]).toEqual([undefined, 0]);
          expect((await store.queue.backlog()).dueSince).toBeUndefined();
        }
        await setScopes(['webhooks:write', 'events:read']);
        expect((await store.deliver()).map(({ eventId }) => eventId)).toEqual(events.map(({ id }) => id));
        await setScopes(undefined);
      });

      it('after the pause of the last one, whatever happens meanwhile', async () => {
        await store.add();
        await store.publishTwo();
        const failing = { failedRounds: 2, failingSince: later(NOON, -HOUR) };
        const round = await store.dueRound();
        for (const delivery of round.deliveries) await store.settle(delivery, { status: 'queued', pause: DAY });
        await store.endRound(round, { ...failing, pause: HOUR });
        await store.publishTwo();
        await store.letPass(HOUR - MINUTE);
        expect(await store.takeRound()).toBeUndefined();
        await store.letPass(MINUTE);
        const { receiver } = await store.dueRound();
        expect(receiver).toMatchObject(failing);
        expect(receiver.attemptedAt).toBeDefined();
      });

      const requests: Readonly<Record<string, (webhook: Webhook, delivery: DeliveryId) => Promise<unknown>>> = {
        'a ping': ({ id }) => store.deliveries.ping(id, NOON),
        'a retry': ({ id }, delivery) => store.deliveries.retry(id, delivery),
        'a recovery': ({ id }) => store.deliveries.recover(id, instant(0)),
        'another URL': (webhook) => store.change(webhook, { url: 'https://new.example.com' }),
      };
      for (const [request, ask] of Object.entries(requests))
        it(`during that pause if the owner wants it: ${request}`, async () => {
          const webhook = await store.add();
          const [delivery] = await store.ping(webhook);
          await store.endRound(await store.dueRound(), { pause: HOUR });
          expect(await store.takeRound()).toBeUndefined();
          await ask(webhook, present(delivery));
          expect(await store.takeRound()).toBeDefined();
        });
    });

    describe('ends a round', () => {
      const disablings: Readonly<Record<string, (webhook: Webhook, round: Round) => Promise<unknown>>> = {
        'of a webhook that this': (_, round) => store.endRound(round, { status: 'disabled' }),
        'of a webhook that its owner': async (webhook, round) => {
          await store.change(webhook, { status: 'disabled' });
          await store.endRound(round);
        },
      };

      it('of a webhook that was changed meanwhile as it is then, and gives nobody else its round before', async () => {
        const webhook = await store.add();
        const [delivery] = await store.ping(webhook, 2);
        const round = await store.dueRound({ limit: 1 });
        for (const url of ['https://new.example.com', 'https://newer.example.com']) {
          await store.change(webhook, { url });
          await store.deliveries.retry(webhook.id, present(delivery));
          expect(await store.takeRound()).toBeUndefined();
        }
        const seen: string[] = [];
        await store.queue.endRound(round, 10, (receiver) => {
          seen.push(receiver.url);
          return { end: roundEnd(receiver) };
        });
        expect(seen).toEqual(['https://newer.example.com']);
        expect((await store.dueRound()).receiver.url).toBe('https://newer.example.com');
      });

      it('with a webhook disabled, mails the notice, and sends nothing until it is enabled', async () => {
        const webhook = await store.add();
        await store.ping(webhook, 2);
        const notice = {
          id: unique.name() as AccountMailId,
          accountId: webhook.accountId,
          kind: 'webhook',
          about: webhook.url,
          createdAt: NOON,
          expiresAt: later(NOON, DAY),
        } as const;
        const round = await store.dueRound({ limit: 1 });
        const disabled = { status: 'disabled', updatedAt: later(NOON, HOUR) } as const;
        await store.queue.endRound(round, 10, (receiver) => ({ end: roundEnd(receiver, disabled), notice }));
        expect(await store.ports.webhooks.findById(webhook.accountId, webhook.id)).toMatchObject(disabled);
        await store.letPass(DAY);
        expect([await store.takeRound(), (await store.queue.backlog()).waiting]).toEqual([undefined, 0]);
        const [waiting] = await store.deliveries.list({ webhookId: webhook.id, limit: 1 });
        expect(waiting).toMatchObject({ status: 'queued', nextAttemptAt: undefined });
        const { email } = store.account;
        expect(await claimOne(store.ports.accountMails)).toMatchObject({ kind: 'webhook', email, about: webhook.url });
        await store.change(webhook, { status: 'enabled' });
        expect(idsOf(await store.dueRound())).toHaveLength(2);
      });

      it('and keeps what its owner changes meanwhile', async () => {
        const webhook = await store.add();
        for (const [index, url] of ['a', 'b', 'c', 'd'].map((name) => `https://${name}.example.com`).entries()) {
          await store.ping(webhook);
          const round = await store.dueRound();
          const disabled = { status: 'disabled' } as const;
          const [own, ending] = index % 2 === 0 ? [{}, disabled] : [disabled, {}];
          await Promise.all([store.change(webhook, { url, ...own }), store.endRound(round, ending)]);
          const { accountId, id } = webhook;
          expect(await store.ports.webhooks.findById(accountId, id)).toMatchObject({ url, status: 'disabled' });
          await store.change(webhook, { status: 'enabled' });
        }
      });

      it('and asks once what becomes of the webhook', async () => {
        await store.ping(await store.add());
        const round = await store.dueRound();
        const decide = (receiver: Receiver) => ({ end: roundEnd(receiver) });
        await expectDecidedOnce(framework, { endRound: (counted) => store.queue.endRound(round, 10, counted(decide)) });
      });

      for (const change of [{ url: 'https://new.example.com' }, { status: 'disabled' }] as const)
        it(`after which ${JSON.stringify(change)} ends its failures, and no other change does`, async () => {
          const webhook = await store.add();
          await store.ping(webhook);
          await store.endRound(await store.dueRound(), { failedRounds: 3, failingSince: NOON });
          const expectFailing = async (count: number, since?: Instant) => {
            const { accountId, id } = webhook;
            const { webhooks } = store.ports;
            const [toOperator] = await webhooks.listAll({ accountId, limit: 1 });
            const toOwner = [...(await webhooks.list(accountId)), await webhooks.findById(accountId, id)];
            const times = [toOperator, ...toOwner].map((shown) => shown?.failingSince);
            expect([(await store.queue.backlog()).failing, ...times]).toEqual([count, since, since, since]);
          };
          await store.change(webhook, { description: 'new' });
          await expectFailing(1, NOON);
          await store.change(webhook, change);
          await expectFailing(0);
        });

      for (const [who, disable] of Object.entries(disablings))
        it(`${who} has disabled: it later gets what it hadn’t taken, and nothing from while it was disabled`, async () => {
          const webhook = await store.add({ types: ['message.sent'] });
          await store.ping(webhook);
          const round = await store.dueRound();
          const before = (await store.publishTwo()).at(-1);
          await disable(webhook, round);
          await store.letPass(1);
          await store.publishTwo();
          await store.letPass(1);
          await store.change(webhook, { status: 'enabled' });
          // Disabled again, before it has taken anything.
          await store.change(webhook, { status: 'disabled' });
          await store.change(webhook, { status: 'enabled' });
          await store.letPass(1);
          const after = (await store.publishTwo()).at(-1);
          const delivered = (await store.deliver()).flatMap(({ eventId }) => eventId ?? []);
          expect(delivered.sort()).toEqual([before?.id, after?.id].sort());
        });
    });

    webhookDeliveries(framework, () => store);
  });
}
