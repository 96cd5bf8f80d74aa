import { randomUUID } from 'node:crypto';
import { inspect, isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type AccountId,
  type AnimalId,
  HOUR,
  type Instant,
  instant,
  later,
  MINUTE,
  newAnimal,
  type Order,
  type OrderId,
  type OrderOutcome,
  type PetStatus,
  type Ports,
} from '@adoption-store/domain';
import fc from 'fast-check';
import { type Adapters, openPostgres } from './adapters.js';

const noon = instant(Date.UTC(2026, 0, 1, 12));

type Operation =
  | { readonly kind: 'place'; readonly accountId: AccountId; readonly animalId: AnimalId; readonly at: Instant }
  | {
      readonly kind: 'end';
      readonly accountId: AccountId;
      readonly id: OrderId;
      readonly outcome: OrderOutcome;
      readonly at: Instant;
    }
  | { readonly kind: 'expire'; readonly placedUntil: Instant; readonly limit: number; readonly at: Instant };

/** An operation, and the orders that it reports as placed or ended. */
interface Done {
  readonly operation: Operation;
  readonly changed: readonly Order[];
}

/** A model of the store, as simple as possible. */
interface Store {
  readonly accounts: readonly AccountId[];
  readonly pets: ReadonlyMap<AnimalId, PetStatus>;
  /** By id, in the order in which they were placed. */
  readonly orders: ReadonlyMap<OrderId, Order>;
}

const petStatusAfter: Record<Order['status'], PetStatus> = {
  placed: 'pending',
  completed: 'sold',
  cancelled: 'available',
  expired: 'available',
};

/** The changes that the operation must make if it runs alone. Only the id of a new order is chosen by the store. */
function changesOf({ pets, orders }: Store, { operation, changed }: Done): readonly Order[] {
  const { at } = operation;
  if (operation.kind === 'place') {
    const { accountId, animalId } = operation;
    const id = changed[0]?.id ?? (0n as OrderId);
    if (pets.get(animalId) !== 'available' || orders.has(id)) return [];
    return [{ id, accountId, animalId, status: 'placed', createdAt: at, updatedAt: at }];
  }
  const placed = [...orders.values()].filter(({ status }) => status === 'placed');
  if (operation.kind === 'end') {
    const { accountId, id, outcome } = operation;
    return placed
      .filter((order) => order.id === id && order.accountId === accountId)
      .map((order) => ({ ...order, status: outcome, updatedAt: at }));
  }
  return sorted(placed)
    .filter(({ createdAt }) => createdAt <= operation.placedUntil)
    .sort((one, other) => one.createdAt - other.createdAt)
    .slice(0, operation.limit)
    .map((order) => ({ ...order, status: 'expired', updatedAt: at }));
}

function apply({ accounts, pets, orders }: Store, changed: readonly Order[]): Store {
  return {
    accounts,
    pets: new Map([...pets, ...changed.map(({ animalId, status }) => [animalId, petStatusAfter[status]] as const)]),
    orders: new Map([...orders, ...changed.map((order) => [order.id, order] as const)]),
  };
}

/**
 * Finds an order of the operations in which each, one after another, makes the changes it reports. Returns the store
 * after them, or undefined.
 */
function explain(store: Store, done: readonly Done[]): Store | undefined {
  if (done.length === 0) return store;
  for (const next of done) {
    if (!isDeepStrictEqual(sorted(changesOf(store, next)), sorted(next.changed))) continue;
    const after = explain(
      apply(store, next.changed),
      done.filter((each) => each !== next),
    );
    if (after !== undefined) return after;
  }
  return undefined;
}

function sorted<Item extends { readonly id: bigint }>(items: Iterable<Item>): Item[] {
  return [...items].sort((one, other) => (one.id < other.id ? -1 : 1));
}

let adapters: Adapters;
let ports: Ports;
beforeAll(async () => {
  adapters = await openPostgres();
  ports = adapters.ports;
});
afterAll(() => adapters.close());

async function run(operation: Operation): Promise<Done> {
  const { orders } = ports;
  if (operation.kind === 'expire') return { operation, changed: await orders.expire(operation) };
  const changed =
    operation.kind === 'place'
      ? await orders.place({ ...operation, createdAt: operation.at })
      : await orders.end(operation);
  return { operation, changed: changed === undefined ? [] : [changed] };
}

/** A store with two new accounts and three new animals. */
async function open(): Promise<Store> {
  const emails = [randomUUID(), randomUUID()].map((name) => `${name}@example.com`);
  const opened = emails.map((email) => ports.accounts.open({ email, plan: { name: 'free' }, createdAt: noon }));
  const added = [0, 1, 2].map(() => ports.animals.add(newAnimal({ name: 'Luna', categoryId: 1n })));
  return {
    accounts: (await Promise.all(opened)).map(({ id }) => id),
    pets: new Map((await Promise.all(added)).map(({ id }) => [id, 'available'])),
    orders: new Map(),
  };
}

/** The state of the store in the database. */
async function look({ accounts, pets }: Store): Promise<Store> {
  const [animals, ...lists] = await Promise.all([
    ports.animals.list({ ids: [...pets.keys()], limit: 100 }),
    ...accounts.map((accountId) => ports.orders.list({ accountId, limit: 1_000 })),
  ]);
  return {
    accounts,
    pets: new Map(animals.map(({ id, status }) => [id, status])),
    orders: new Map(sorted(lists.flat()).map((order) => [order.id, { ...order }])),
  };
}

const few = fc.nat({ max: 2 });
const placing = fc.record({ kind: fc.constant('place' as const), account: fc.nat({ max: 1 }), pet: few });
const ending = fc.record({
  kind: fc.constant('end' as const),
  /** An existing order, 0 is the newest. */
  order: fc.nat({ max: 3 }),
  isOwn: fc.integer({ min: 0, max: 5 }).map((number) => number > 0),
  outcome: fc.constantFrom<OrderOutcome>('completed', 'cancelled', 'cancelled'),
});
const expiring = fc.record({
  kind: fc.constant('expire' as const),
  minutes: few,
  limit: fc.integer({ min: 1, max: 3 }),
});
type ValueOf<Values> = Values extends fc.Arbitrary<infer Value> ? Value : never;
type Step = ValueOf<typeof placing | typeof ending | typeof expiring>;

// At most one expiry per round: two would share the due orders, which no sequence has to explain.
const rounds = fc.array(
  fc.oneof(
    fc.array<Step>(fc.oneof(placing, ending), { minLength: 1, maxLength: 4 }),
    fc
      .tuple(expiring, fc.array<Step>(fc.oneof(placing, ending), { maxLength: 3 }), fc.boolean())
      .map(([expiry, others, isFirst]) => (isFirst ? [expiry, ...others] : [...others, expiry])),
  ),
  { minLength: 2, maxLength: 8 },
);

/** The operations of the step in the current state. Empty if there is no such order yet. */
function operationsOf(step: Step, store: Store, now: Instant, at: Instant): readonly Operation[] {
  if (step.kind === 'expire') return [{ ...step, placedUntil: later(now, -step.minutes * MINUTE), at }];
  if (step.kind === 'place') {
    const [accountId, animalId] = [store.accounts[step.account], [...store.pets.keys()][step.pet]];
    return accountId === undefined || animalId === undefined ? [] : [{ kind: step.kind, accountId, animalId, at }];
  }
  const { kind, outcome, isOwn } = step;
  const order = sorted(store.orders.values()).at(-1 - step.order);
  const accountId = store.accounts.find((account) => (account === order?.accountId) === isOwn);
  return order === undefined || accountId === undefined ? [] : [{ kind, outcome, accountId, id: order.id, at }];
}

it('changes orders and animals, however many do so at once, as if one did after another', async () => {
  const history = async (steps: readonly (readonly Step[])[]) => {
    // Orders of an earlier history would be due in this one.
    await ports.orders.expire({ placedUntil: later(noon, HOUR), at: noon, limit: 1_000 });
    let store = await open();
    for (const [minute, round] of steps.entries()) {
      const now = later(noon, minute * MINUTE);
      // Each has its own time, which identifies its changes.
      const operations = round.flatMap((step, index) => operationsOf(step, store, now, later(now, index)));
      const done = await Promise.all(operations.map(run));
      const explained = explain(store, done);
      if (explained === undefined) throw new Error(inspect({ unexplained: done, from: store }, { depth: 6 }));
      store = explained;
      expect(await look(store)).toEqual(store);
    }
  };
  await fc.assert(fc.asyncProperty(rounds, history), { numRuns: 200 });
});
