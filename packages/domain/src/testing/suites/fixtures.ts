import type { Account, AccountId, NewAccount } from '../../accounts/account.js';
import type { Animal, AnimalId, DecidedAnimal } from '../../animals/animal.js';
import {
  type ApiKey,
  type ApiKeyId,
  decideIssue,
  decideRevocation,
  decideRotation,
  type KeyHolder,
  type NewApiKey,
  type RotationState,
} from '../../accounts/keys/api-key.js';
import type { AccountMailId, LinkKind, NewLinkMail } from '../../accounts/mails/account-mail.js';
import { isLinkMail } from '../../accounts/mails/account-mail-queue.js';
import type { CredentialRepository } from '../../accounts/sign-in/credential-repository.js';
import { decideClosing, decidePasswordChange } from '../../accounts/sign-in/credentials.js';
import type { Ports } from '../../application.js';
import { EVENT_TYPES, publishedData, type StoreEvent } from '../../events/event.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { Transaction } from '../../kernel/transaction.js';
import { decideQueueing, type Message, type NewMessage } from '../../messages/message.js';
import { PLANS } from '../../accounts/plan.js';
import type { Claimed, DeliveryQueue } from '../../deliveries/delivery-queue.js';
import type { DeliveryAttempt } from '../../webhooks/delivery.js';
import { type Order, orderErrors, type OrderStatus } from '../../orders/order.js';
import type { Opened, OpenedAnimals, StoredEvent, TestFramework, Transact } from './framework.js';

export const NOON = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));

interface Closable {
  close(): Promise<void>;
}

/** Opens what a suite tests before the suite, and closes it afterwards. */
export function openBefore<Adapters extends Closable>(
  { beforeAll, afterAll }: TestFramework,
  open: () => Promise<Adapters>,
  begin: (adapters: Adapters) => Promise<void> | void,
): void {
  let adapters: Adapters;
  beforeAll(async () => {
    adapters = await open();
    await begin(adapters);
  });
  afterAll(() => adapters.close());
}

/** An attempt that took 25 ms. */
export function tried(responseStatus?: number): DeliveryAttempt {
  return { attemptedAt: NOON, responseStatus, duration: 25 };
}

/** Queues the message, however many of its account are queued. */
export async function addMessage(
  { messages }: Pick<Ports, 'messages'>,
  message: NewMessage,
  transaction?: Transaction,
): Promise<Message> {
  const queueing = { message, limit: 1_000_000 };
  return messages.add(queueing, (state) => decideQueueing(state, queueing), transaction);
}

/** What a decision of a test refuses with. */
export const REFUSAL = new DomainError(orderErrors.order_final, 'refused by the test');

/** What is asked for, asked for by the operator. */
export function byOperator<Asked extends object>(asked: Asked): Asked & { readonly actor: 'operator' } {
  return { ...asked, actor: 'operator' };
}

/** A link, and the hash of its token. */
export type UniqueLink = Pick<NewLinkMail, 'accountId' | 'createdAt' | 'expiresAt' | 'address'> & {
  readonly tokenHash: string;
};

/** The events as they are stored. */
export function asStored(...events: readonly StoreEvent[]): readonly StoredEvent[] {
  return events.map((event) => ({ type: event.type, data: publishedData(event) }));
}

/** The stored events that are for the account, in their order. */
export async function storedEvents(
  { events: feed }: Pick<Ports, 'events'>,
  accountId: AccountId,
): Promise<readonly StoredEvent[]> {
  while ((await feed.publish(1_000)) > 0);
  const { events } = await feed.list({ accountId, types: EVENT_TYPES, limit: 100_000 });
  return events.map(({ type, data }) => ({ type, data }));
}

/** Transactions are those of requests with an idempotency key. */
export function transactFor(
  { id }: Pick<Account, 'id'>,
  { idempotency }: Pick<Ports, 'idempotency'>,
  unique: Unique,
): Transact {
  const request = { accountId: id, fingerprint: 'asked', now: NOON, expiredUntil: later(NOON, -DAY) };
  return async <Result>(work: (transaction: Transaction) => Promise<Result>) => {
    const results: Result[] = [];
    await idempotency.once({ ...request, key: unique.name() }, async (transaction) => {
      results.push(await work(transaction));
      return 'done';
    });
    return results[0] as Result;
  };
}

/** The animals of a store that has all these ports. */
export async function openedAnimals(
  opened: Opened<'accounts' | 'animals' | 'events' | 'idempotency' | 'orders'>,
): Promise<OpenedAnimals> {
  const { ports } = opened;
  const unique = new Unique();
  const account = await ports.accounts.open(unique.account());
  return {
    ports,
    transact: transactFor(account, ports, unique),
    order: (id, status) => storeOrder(ports, account, id, status),
    storedEvents: () => storedEvents(ports, account.id),
    close: () => opened.close(),
  };
}

/** Stores an order of that status for the animal, which stays as it is. */
export async function storeOrder(
  { orders }: Pick<Ports, 'orders'>,
  { id: accountId }: Account,
  animalId: AnimalId,
  status: OrderStatus,
): Promise<void> {
  await orders.place({ accountId, animalId }, (state) => {
    const order: Order = { id: state.id, accountId, animalId, status, createdAt: NOON, updatedAt: NOON };
    return { order, animal: present(state.animal), events: [] };
  });
}

/** A decision without events. */
export function eventless(animal: Animal): DecidedAnimal {
  return { animal, events: [] };
}

/** Values of which no two are the same, in a store that began empty. */
export class Unique {
  private made = 0;

  name(): string {
    this.made += 1;
    return `name-${this.made}`;
  }

  email(): string {
    return `${this.name()}@example.com`;
  }

  /** Looks like a SHA-256. */
  hash(): string {
    this.made += 1;
    return this.made.toString(16).padStart(64, '0');
  }

  account(email = this.email()): NewAccount {
    return { email, plan: PLANS.free, scopes: undefined, createdAt: NOON };
  }

  key({ id }: Pick<Account, 'id'>, changes: Partial<NewApiKey> = {}): NewApiKey {
    return {
      accountId: id,
      hash: this.hash(),
      ending: 'wxyz',
      name: undefined,
      scopes: undefined,
      createdAt: NOON,
      expiresAt: undefined,
      ...changes,
    };
  }

  link({ id }: Pick<Account, 'id'>, changes: Partial<UniqueLink> = {}): UniqueLink {
    return { accountId: id, tokenHash: this.hash(), createdAt: NOON, expiresAt: later(NOON, HOUR), ...changes };
  }
}

/** The id of the notice about that key. */
function noticeOf({ hash }: Pick<NewApiKey, 'hash'>): AccountMailId {
  return `notice ${hash}` as AccountMailId;
}

/** Adds the key, however many the account has. */
export async function addKey(
  { apiKeys }: Pick<Ports, 'apiKeys'>,
  key: NewApiKey,
  credentialVersion?: number,
): Promise<ApiKey> {
  const decide = ({ account }: KeyHolder) =>
    decideIssue({ account, activeKeys: 0, madeToday: 0 }, { key, credentialVersion, noticeId: noticeOf(key) });
  return apiKeys.add(key.accountId, key.createdAt, decide);
}

export async function revokeKey({ apiKeys }: Pick<Ports, 'apiKeys'>, id: ApiKeyId, at: Instant): Promise<ApiKey> {
  return apiKeys.change(id, (state) => decideRevocation(state, { id }, at));
}

/** Replaces the key by one of that account, and lets both work. */
export async function replaceKey(
  { apiKeys }: Pick<Ports, 'apiKeys'>,
  id: ApiKeyId,
  replacement: NewApiKey,
  credentialVersion?: number,
): Promise<ApiKey> {
  const { accountId, createdAt: now, hash, ending } = replacement;
  const command = {
    id,
    accountId,
    credentialVersion,
    overlap: HOUR,
    text: { hash, ending },
    noticeId: noticeOf(replacement),
  };
  const decide = ({ account, old }: RotationState) =>
    decideRotation({ account, activeKeys: 0, madeToday: 0, old }, command, now);
  return (await apiKeys.replace(id, now, decide)).replacement;
}

export async function openWithPassword(
  credentials: CredentialRepository,
  unique: Unique,
  passwordHash = 'hash',
): Promise<Account> {
  const account = { ...unique.account(), credentialVersion: 1, provenAt: undefined };
  return credentials.open(account.email, () => ({ account, passwordHash }));
}

export async function changePassword(
  { credentials }: Pick<Ports, 'credentials'>,
  { id }: Pick<Account, 'id'>,
): Promise<Account | undefined> {
  return credentials.change(id, (state) =>
    decidePasswordChange(
      state,
      { current: 'hash', next: 'next', noticeId: noticeOf({ hash: `password ${id}` }) },
      NOON,
    ),
  );
}

/** Closes an account that was opened with the password `hash`. */
export async function closeAccount(
  { credentials }: Pick<Ports, 'credentials'>,
  { id }: Pick<Account, 'id'>,
): Promise<Account | undefined> {
  return credentials.change(id, (state) =>
    decideClosing(state, { current: 'hash', noticeId: noticeOf({ hash: `closing ${id}` }) }, NOON),
  );
}

/** Mails the link, as far as the queue can tell. */
export async function mailLink(
  { accountMails }: Pick<Ports, 'accountMails'>,
  kind: LinkKind,
  { tokenHash, ...link }: UniqueLink,
): Promise<void> {
  const id = `mail ${tokenHash}` as AccountMailId;
  await accountMails.add({ id, kind, ...link }, () => true);
  // One of several concurrent callers may claim the others' mails, too.
  for (const claimed of await accountMails.claim({ limit: 100, lease: HOUR })) {
    if (isLinkMail(claimed)) await accountMails.addToken(claimed, claimed.id.slice('mail '.length), () => true);
    await accountMails.markSent(claimed.id);
  }
}

/** Claims the one item that is due. */
export async function claimOne<Id extends string, Item extends Claimed<Id>>(
  queue: DeliveryQueue<Id, Item>,
): Promise<Item> {
  const [claimed, ...others] = await queue.claim({ limit: 1_000, lease: MINUTE });
  if (claimed === undefined || others.length > 0) throw new Error('not one item was claimed');
  return claimed;
}

/** The value, which must be there. */
export function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('it is missing');
  return value;
}

/** Begins the work so many times before it waits for any. */
export function atOnce<Result>(times: number, work: (index: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => work(index)));
}

/** Does the work 101 times, each after the one before: as often as a page of 100 reads rows. */
export async function oftenerThanAPage<Result>(work: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  while (results.length < 101) results.push(await work());
  return results;
}

/** Begins the work so many times at once, and returns the values, and the reasons of those that failed. */
export async function race<Value>(times: number, work: (index: number) => Promise<Value>) {
  return outcomes(await Promise.allSettled(Array.from({ length: times }, (_, index) => work(index))));
}

/** Values of the promises that were kept, and reasons of those that weren't. */
export function outcomes<Value>(settled: readonly PromiseSettledResult<Value>[]) {
  return {
    values: settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])),
    reasons: settled.flatMap((each): unknown[] => (each.status === 'rejected' ? [each.reason] : [])),
  };
}

/** What a change is decided on. It is refused, so nothing changes. */
export async function stateOf<State>(change: (decide: (state: State) => never) => Promise<unknown>): Promise<State> {
  const states: State[] = [];
  const refusal = new Error('refused');
  const outcome: unknown = await change((state) => {
    states.push(state);
    throw refusal;
  }).catch((error: unknown) => error);
  if (outcome !== refusal) throw new Error('the refusal was lost', { cause: outcome });
  if (states.length !== 1) throw new Error('it was not decided once');
  return states[0] as State;
}

type Counted = <State, Decision>(decide: (state: State) => Decision) => (state: State) => Decision;

/** Expects that each change calls its decision once, which it has to hand over as `counted`. */
export async function expectDecidedOnce(
  { expect }: Pick<TestFramework, 'expect'>,
  changes: Readonly<Record<string, (counted: Counted) => Promise<unknown>>>,
): Promise<void> {
  for (const [name, change] of Object.entries(changes)) {
    let times = 0;
    await change((decide) => (state) => {
      times += 1;
      return decide(state);
    });
    expect({ name, times }).toEqual({ name, times: 1 });
  }
}

/** Does the work in a transaction that fails afterwards. */
export async function undo(
  ports: Pick<Ports, 'idempotency'>,
  account: Pick<Account, 'id'>,
  work: (transaction: Transaction) => Promise<unknown>,
): Promise<void> {
  const failure = new Error('undone by the test');
  const transact = transactFor(account, ports, new Unique());
  const outcome: unknown = await transact(async (transaction) => {
    await work(transaction);
    throw failure;
  }).catch((error: unknown) => error);
  if (outcome !== failure) throw new Error('the work failed by itself', { cause: outcome });
}
