import type { AccountId } from '../../accounts/account.js';
import { type AnimalId, newAnimal, type PetStatus } from '../../animals/animal.js';
import type { Ports } from '../../application.js';
import { HOUR, type Instant, later, MINUTE } from '../../kernel/clock.js';
import type { Order, OrderId, OrderOutcome } from '../../orders/order.js';
import { checkDrawn, Draws, inWords } from './draws.js';
import { NOON, Unique } from './fixtures.js';
import type { TestFramework } from './framework.js';
import { type OrderPorts, petStatusAfter } from './order-store.js';

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

/** Everything a state holds, as seen from outside. */
interface State {
  readonly accounts: readonly AccountId[];
  readonly pets: ReadonlyMap<AnimalId, PetStatus>;
  /** By id, in the order in which they were placed. */
  readonly orders: ReadonlyMap<OrderId, Order>;
}

/** The changes that the operation must make if it runs alone. Only the id of a new order is chosen by the store. */
function changesOf({ pets, orders }: State, { operation, changed }: Done): readonly Order[] {
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

function apply({ accounts, pets, orders }: State, changed: readonly Order[]): State {
  return {
    accounts,
    pets: new Map([...pets, ...changed.map(({ animalId, status }) => [animalId, petStatusAfter[status]] as const)]),
    orders: new Map([...orders, ...changed.map((order) => [order.id, order] as const)]),
  };
}

/** The state after the operations in some order, one after another, in which each changes what it says; if there is one. */
function explain(state: State, done: readonly Done[]): State | undefined {
  if (done.length === 0) return state;
  for (const next of done) {
    if (textOf(changesOf(state, next)) !== textOf(next.changed)) continue;
    const after = explain(
      apply(state, next.changed),
      done.filter((each) => each !== next),
    );
    if (after !== undefined) return after;
  }
  return undefined;
}

function textOf(orders: readonly Order[]): string {
  return inWords(sorted(orders).map((order) => Object.entries(order).sort()));
}

function sorted<Item extends { readonly id: bigint }>(items: Iterable<Item>): Item[] {
  return [...items].sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** A step of a history before it is known which orders there are. */
type Step =
  | { readonly kind: 'place'; readonly account: number; readonly pet: number }
  /** `order` is its place among those there are, 0 being the newest. */
  | { readonly kind: 'end'; readonly order: number; readonly isOwn: boolean; readonly outcome: OrderOutcome }
  | { readonly kind: 'expire'; readonly minutes: number; readonly limit: number };

function drawStep(draws: Draws): Step {
  if (draws.isOneOf(2)) return { kind: 'place', account: draws.integer(0, 1), pet: draws.integer(0, 2) };
  const outcome = draws.pick(['completed', 'cancelled', 'cancelled'] as const);
  return { kind: 'end', order: draws.integer(0, 3), isOwn: !draws.isOneOf(6), outcome };
}

/** Steps that are taken at once. At most one expires orders: two share what is due, which no sequence of the two need explain. */
function drawRound(draws: Draws): readonly Step[] {
  if (draws.isOneOf(2)) return draws.many(1, 4, () => drawStep(draws));
  const expiry = { kind: 'expire', minutes: draws.integer(0, 2), limit: draws.integer(1, 3) } as const;
  const others = draws.many(0, 3, () => drawStep(draws));
  return draws.isOneOf(2) ? [expiry, ...others] : [...others, expiry];
}

/** The operations of the step in the current state. Empty if there is no such order yet. */
function operationsOf(step: Step, state: State, now: Instant, at: Instant): readonly Operation[] {
  if (step.kind === 'expire') return [{ ...step, placedUntil: later(now, -step.minutes * MINUTE), at }];
  if (step.kind === 'place') {
    const [accountId, animalId] = [state.accounts[step.account], [...state.pets.keys()][step.pet]];
    return accountId === undefined || animalId === undefined ? [] : [{ kind: step.kind, accountId, animalId, at }];
  }
  const { kind, outcome, isOwn } = step;
  const order = sorted(state.orders.values()).at(-1 - step.order);
  const accountId = state.accounts.find((account) => (account === order?.accountId) === isOwn);
  return order === undefined || accountId === undefined ? [] : [{ kind, outcome, accountId, id: order.id, at }];
}

async function run({ orders }: Pick<Ports, OrderPorts>, operation: Operation): Promise<Done> {
  if (operation.kind === 'expire') return { operation, changed: await orders.expire(operation) };
  const { accountId, at } = operation;
  const changed =
    operation.kind === 'place'
      ? await orders.place({ accountId, animalId: operation.animalId, createdAt: at })
      : await orders.end(operation);
  return { operation, changed: changed === undefined ? [] : [changed] };
}

/** A store with two new accounts and three new animals. */
async function begin({ accounts, animals }: Pick<Ports, OrderPorts>, unique: Unique): Promise<State> {
  const opened = [0, 1].map(() => accounts.open(unique.account(`history-${unique.email()}`)));
  const added = [0, 1, 2].map(() => animals.add(newAnimal({ name: 'Luna', categoryId: 1n })));
  return {
    accounts: (await Promise.all(opened)).map(({ id }) => id),
    pets: new Map((await Promise.all(added)).map(({ id }) => [id, 'available'])),
    orders: new Map(),
  };
}

async function look(ports: Pick<Ports, OrderPorts>, { accounts, pets }: State): Promise<State> {
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

/** Every `OrderRepository` behaves as if one operation followed another. */
export function orderHistories({ it, expect, random }: TestFramework, opened: () => Pick<Ports, OrderPorts>): void {
  it('changes orders and animals, however many do so at once, as if one did after another', async () => {
    const [ports, unique, draws] = [opened(), new Unique(), new Draws(random)];
    const history = async (rounds: readonly (readonly Step[])[]) => {
      // Orders of an earlier history would be due in this one.
      await ports.orders.expire({ placedUntil: later(NOON, HOUR), at: NOON, limit: 1_000 });
      let state = await begin(ports, unique);
      for (const [minute, round] of rounds.entries()) {
        const now = later(NOON, minute * MINUTE);
        // Each has its own time, which identifies its changes.
        const operations = round.flatMap((step, index) => operationsOf(step, state, now, later(now, index)));
        const done = await Promise.all(operations.map((operation) => run(ports, operation)));
        const explained = explain(state, done);
        if (explained === undefined) {
          const before = { pets: [...state.pets], orders: [...state.orders.values()] };
          throw new Error(`no order of these operations explains what they did: ${inWords({ done, before })}`);
        }
        state = explained;
        expect(await look(ports, state)).toEqual(state);
      }
    };
    await checkDrawn(200, () => draws.many(2, 8, () => drawRound(draws)), history);
  });
}
