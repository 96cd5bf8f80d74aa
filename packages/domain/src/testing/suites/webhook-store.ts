import type { Account } from '../../accounts/account.js';
import { newAnimal } from '../../animals/animal.js';
import { EVENT_TYPES } from '../../events/event.js';
import { MINUTE } from '../../kernel/clock.js';
import type { MessageId } from '../../messages/message.js';
import type { DeliveryId, DeliveryOutcome, DueDelivery, Receiver, Round, RoundEnd } from '../../webhooks/delivery.js';
import type { NewWebhook, Webhook, WebhookFields, WebhookId } from '../../webhooks/webhook.js';
import type { RoundRequest } from '../../webhooks/webhook-queue.js';
import { addMessage, byOperator, NOON, present, tried, type Unique } from './fixtures.js';
import type { OpenedQueue } from './framework.js';

/** The ports that the suite of webhooks' deliveries needs. */
export type WebhookPorts =
  'accountMails' | 'accounts' | 'animals' | 'events' | 'messages' | 'webhookDeliveries' | 'webhookQueue' | 'webhooks';

/** A webhook of which no two are the same. */
export function newWebhook({ id }: Pick<Account, 'id'>, unique: Unique, fields: Partial<NewWebhook> = {}): NewWebhook {
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

/** The end of a round after which the receiver is as before, but for these changes. */
export function roundEnd(receiver: Receiver, changes: Partial<RoundEnd> = {}): RoundEnd {
  return { ...receiver, pause: 0, isFailing: false, ...changes };
}

export const idsOf = ({ deliveries }: Round): DeliveryId[] => deliveries.map(({ id }) => id);

export type WebhookStore = Awaited<ReturnType<typeof openWebhookStore>>;

/** Two accounts of a store, their webhooks, and a worker that delivers to these. */
export async function openWebhookStore(adapters: OpenedQueue<WebhookPorts>, unique: Unique) {
  const { ports } = adapters;
  const { accounts, animals, events, messages, webhooks, webhookDeliveries: deliveries, webhookQueue: queue } = ports;
  const [account, other] = [await accounts.open(unique.account()), await accounts.open(unique.account())];
  const letPass = async (milliseconds: number) => adapters.letPass(milliseconds);
  const add = (fields: Partial<WebhookFields> = {}, owner = account) =>
    webhooks.add(byOperator({ accountId: owner.id }), () => newWebhook(owner, unique, fields));
  const change = (changed: Webhook, fields: Partial<WebhookFields>) =>
    webhooks.change(byOperator(changed), ({ webhook }) => ({ ...present(webhook), ...fields }));
  const remove = (webhook: Webhook) => webhooks.delete(byOperator(webhook), () => undefined);
  const clear = async () => {
    for (const owner of [account, other]) for (const webhook of await webhooks.list(owner.id)) await remove(webhook);
  };
  const ping = async ({ id }: Webhook, times = 1) => {
    const pings: DeliveryId[] = [];
    while (pings.length < times) pings.push(present(await deliveries.ping(id, NOON)).id);
    return pings;
  };
  /** Makes an event that is for everybody. */
  const addAnimal = () => animals.add(newAnimal({ name: unique.name(), categoryId: 1n }));
  /** Makes an event that is for one account. */
  const sendMessage = async (text: string, { id: accountId } = account) => {
    const { id } = await addMessage({ messages }, { id: unique.name() as MessageId, accountId, text, createdAt: NOON });
    await messages.markSent(id);
  };
  const publish = async () => {
    while ((await events.publish(1_000)) > 0);
  };
  /** Makes an event for everybody and one for the account, publishes them, and returns them. */
  const publishTwo = async (owner = account) => {
    const page = { accountId: owner.id, types: EVENT_TYPES, limit: 100 };
    const { position } = await events.end();
    await addAnimal();
    await sendMessage('"\\ 🐈', owner);
    await publish();
    return (await events.list({ ...page, after: position })).events;
  };
  /** Takes a round, as a worker that has published. */
  const takeRound = async (request: Partial<RoundRequest> = {}) => {
    await queue.wake();
    return queue.takeRound({ limit: 20, lease: MINUTE, ...request });
  };
  /** Takes a round, which must be due. */
  const dueRound = async (request: Partial<RoundRequest> = {}) => present(await takeRound(request));
  const settle = (delivery: DueDelivery | undefined, outcome: DeliveryOutcome, responseStatus?: number) =>
    queue.settle(present(delivery), outcome, tried(responseStatus));
  const endRound = (round: Round, changes: Partial<RoundEnd> = {}, took = 10) =>
    queue.endRound(round, took, (receiver) => ({ end: roundEnd(receiver, changes) }));
  /** Sends the deliveries of the round, and ends it. */
  const finish = async (round: Round, took?: number) => {
    await Promise.all(round.deliveries.map((delivery) => settle(delivery, { status: 'sent' }, 204)));
    await endRound(round, {}, took);
  };
  /** Sends everything that is due, and returns the rounds. */
  const finishAll = async () => {
    const rounds: Round[] = [];
    for (let round = await takeRound(); round !== undefined; round = await takeRound()) {
      await finish(round);
      rounds.push(round);
    }
    return rounds;
  };
  /** Sends everything that is due, and returns it. */
  const deliver = async () => (await finishAll()).flatMap(({ deliveries }) => deliveries);
  const statusesOf = async ({ id }: Webhook) =>
    (await deliveries.list({ webhookId: id, limit: 1_000 })).map(({ type, status }) => `${type} ${status}`);
  return {
    ports,
    queue,
    deliveries,
    account,
    other,
    letPass,
    add,
    change,
    remove,
    clear,
    ping,
    addAnimal,
    sendMessage,
    publish,
    publishTwo,
    takeRound,
    dueRound,
    settle,
    endRound,
    finish,
    finishAll,
    deliver,
    statusesOf,
  };
}
