import type { AccountId } from '../../accounts/account.js';
import {
  type Animal,
  type AnimalEdit,
  type AnimalId,
  animalVersion,
  decideChange,
  decideWithdrawal,
  newAnimal,
  PET_STATUSES,
  type PetStatus,
} from '../../animals/animal.js';
import type { Ports } from '../../application.js';
import { HOUR, type Instant, later, MINUTE } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import {
  decideEnd,
  decideExpiry,
  decidePlacement,
  LIVE_ORDER_STATUSES,
  type Order,
  type OrderEnd,
  type OrderId,
  type OrderOutcome,
  type OrderStatus,
  type Placement,
} from '../../orders/order.js';
import { checkDrawn, Draws, inWords } from './draws.js';
import { NOON, Unique } from './fixtures.js';
import type { TestFramework } from './framework.js';
import type { OrderPorts } from './order-store.js';

/** Each has its own time, which identifies its changes. */
type Operation = { readonly at: Instant } & (
  | { readonly kind: 'place'; readonly placement: Placement }
  | { readonly kind: 'end'; readonly end: OrderEnd }
  | { readonly kind: 'expire'; readonly ttl: number; readonly limit: number }
  | { readonly kind: 'change' | 'withdraw'; readonly edit: AnimalEdit }
);

/** The orders that were placed or ended, the animal as changed or withdrawn, or the code of the refusal. */
type Report = readonly Order[] | Animal | string;

interface Done {
  readonly operation: Operation;
  readonly report: Report;
}

/** Everything a store holds, as seen from outside. */
interface State {
  readonly accounts: readonly AccountId[];
  readonly pets: ReadonlyMap<AnimalId, Animal>;
  /** By id, in the order in which they were placed. */
  readonly orders: ReadonlyMap<OrderId, Order>;
}

const sha256 = (text: string) => text;

/**
 * The report and the state after the operation, if it runs alone: what the domain decides, whose own tests prove that it
 * is right. Only the id of a new order is chosen by the store.
 */
function outcomeOf(state: State, { operation, report }: Done): { readonly report: Report; readonly after: State } {
  try {
    return decided(state, operation, report);
  } catch (error) {
    return { report: codeOf(error), after: state };
  }
}

function decided({ accounts, pets, orders }: State, operation: Operation, report: Report) {
  const { at } = operation;
  const isOrdered = (id: AnimalId, statuses: readonly OrderStatus[]) =>
    [...orders.values()].some(({ animalId, status }) => animalId === id && statuses.includes(status));
  const withPet = (animal: Animal) => new Map(pets).set(animal.id, animal);
  const withOrder = (order: Order, animal: Animal | undefined) => ({
    report: [order],
    after: { accounts, pets: animal ? withPet(animal) : pets, orders: new Map(orders).set(order.id, order) },
  });
  switch (operation.kind) {
    case 'place': {
      const { placement } = operation;
      const { accountId, animalId } = placement;
      const placed = [...orders.values()].filter((each) => each.accountId === accountId && each.status === 'placed');
      const state = { animal: pets.get(animalId), hasLiveOrder: isOrdered(animalId, LIVE_ORDER_STATUSES) };
      const { order, animal } = decidePlacement({ ...state, placedOrders: placed.length }, placement, at);
      const [{ id } = { id: 0n as OrderId }] = report as readonly Order[];
      if (orders.has(id)) throw new Error('the id of an earlier order');
      return withOrder({ ...order, id }, animal);
    }
    case 'end': {
      const order = orders.get(operation.end.id);
      const ended = decideEnd({ order, animal: order && pets.get(order.animalId) }, operation.end, at);
      return withOrder(ended.order, ended.animal);
    }
    case 'expire': {
      const oldest = sorted(orders.values()).sort((one, other) => one.createdAt - other.createdAt);
      const expired = oldest
        .flatMap((order) => decideExpiry({ order, animal: pets.get(order.animalId) }, operation.ttl, at) ?? [])
        .slice(0, operation.limit);
      const both = expired.flatMap(({ animal }) => (animal ? [[animal.id, animal] as const] : []));
      const after = {
        accounts,
        pets: new Map([...pets, ...both]),
        orders: new Map([...orders, ...expired.map(({ order }) => [order.id, order] as const)]),
      };
      return { report: expired.map(({ order }) => order), after };
    }
    default: {
      const { edit, kind } = operation;
      const state = { animal: pets.get(edit.id), isOrdered: isOrdered(edit.id, ['placed']) };
      if (kind === 'change') {
        const animal = decideChange(state, edit, sha256);
        return { report: animal, after: { accounts, orders, pets: withPet(animal) } };
      }
      const animal = decideWithdrawal(state, edit, sha256);
      const others = [...pets].filter(([id]) => id !== animal.id);
      return { report: animal, after: { accounts, orders, pets: new Map(others) } };
    }
  }
}

function codeOf(error: unknown): string {
  if (error instanceof DomainError) return error.code;
  throw error;
}

/** Whether the operations in some order, one after another, do what they report and lead from one state to the other. */
function explains(state: State, done: readonly Done[], after: State): boolean {
  if (done.length === 0) return isSameState(state, after);
  return done.some((next) => {
    const outcome = outcomeOf(state, next);
    if (textOf(outcome.report) !== textOf(next.report)) return false;
    const others = done.filter((each) => each !== next);
    return explains(outcome.after, others, after);
  });
}

function isSameState(one: State, other: State): boolean {
  const [text, otherText] = [one, other].map(({ pets, orders }) =>
    inWords([sorted(pets.values()).map(textOf), textOf([...orders.values()])]),
  );
  return text === otherText;
}

function textOf(report: Report): string {
  const entries = (entity: Order | Animal) => Object.entries(entity).sort();
  if (typeof report === 'string') return report;
  return inWords('name' in report ? entries(report) : sorted(report).map(entries));
}

function sorted<Item extends { readonly id: bigint }>(items: Iterable<Item>): Item[] {
  return [...items].sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** A step of a history before it is known which orders there are. */
type Step =
  | { readonly kind: 'place'; readonly account: number; readonly pet: number; readonly limit: number }
  /** `order` is its place among those there are, 0 being the newest. */
  | { readonly kind: 'end'; readonly order: number; readonly isOwn: boolean; readonly outcome: OrderOutcome }
  | { readonly kind: 'expire'; readonly ttl: number; readonly limit: number }
  | {
      readonly kind: 'change' | 'withdraw';
      readonly pet: number;
      readonly status: PetStatus | undefined;
      /** Whether it is for the version that the animal has before the round. */
      readonly isForVersion: boolean;
    };

function drawStep(draws: Draws): Step {
  if (draws.isOneOf(3)) {
    return { kind: 'place', account: draws.integer(0, 1), pet: draws.integer(0, 2), limit: draws.integer(1, 3) };
  }
  if (draws.isOneOf(2)) {
    const status = draws.isOneOf(4) ? undefined : draws.pick(PET_STATUSES);
    const kind = draws.isOneOf(5) ? 'withdraw' : 'change';
    return { kind, pet: draws.integer(0, 2), status, isForVersion: draws.isOneOf(2) };
  }
  const outcome = draws.pick(['completed', 'cancelled', 'cancelled'] as const);
  return { kind: 'end', order: draws.integer(0, 3), isOwn: !draws.isOneOf(6), outcome };
}

/**
 * Steps that are taken at once. At most one expires orders: two share what is due, which no sequence of the two need
 * explain. Beside it nobody tries to end another's order, which it would leave out as locked, and no order that is placed
 * in the same round is due: in a store each is older.
 */
function drawRound(draws: Draws): readonly Step[] {
  if (draws.isOneOf(2)) return draws.many(1, 4, () => drawStep(draws));
  const ttl = draws.pick([MINUTE / 2, MINUTE, 2 * MINUTE]);
  const expiry = { kind: 'expire', ttl, limit: draws.integer(1, 3) } as const;
  const others = draws.many(0, 3, () => ({ ...drawStep(draws), isOwn: true }));
  return draws.isOneOf(2) ? [expiry, ...others] : [...others, expiry];
}

/** The operations of the step in the current state. Empty if there is no such order yet. */
function operationsOf(step: Step, { accounts, pets, orders }: State, at: Instant): readonly Operation[] {
  switch (step.kind) {
    case 'expire':
      return [{ ...step, at }];
    case 'place': {
      const { kind, limit } = step;
      const [accountId, animalId] = [accounts[step.account], [...pets.keys()][step.pet]];
      if (accountId === undefined || animalId === undefined) return [];
      return [{ kind, placement: { accountId, animalId, limit }, at }];
    }
    case 'end': {
      const { kind, outcome, isOwn } = step;
      const order = sorted(orders.values()).at(-1 - step.order);
      const accountId = accounts.find((account) => (account === order?.accountId) === isOwn);
      return order === undefined || accountId === undefined
        ? []
        : [{ kind, end: { accountId, id: order.id, outcome }, at }];
    }
    default: {
      const { kind, status, isForVersion } = step;
      const pet = [...pets.values()][step.pet];
      if (pet === undefined) return [];
      const versions = isForVersion ? [animalVersion(pet, sha256)] : undefined;
      return [{ kind, edit: { id: pet.id, change: { name: `Luna at ${at}`, status }, versions }, at }];
    }
  }
}

async function run(ports: Pick<Ports, OrderPorts>, operation: Operation): Promise<Done> {
  return { operation, report: await reportOf(ports, operation).catch(codeOf) };
}

async function reportOf({ animals, orders }: Pick<Ports, OrderPorts>, operation: Operation): Promise<Report> {
  const { at } = operation;
  switch (operation.kind) {
    case 'place': {
      const { placement } = operation;
      return [await orders.place(placement, (state) => decidePlacement(state, placement, at))];
    }
    case 'end': {
      const { end } = operation;
      return [await orders.change(end.id, (state) => decideEnd(state, end, at))];
    }
    case 'expire': {
      const { ttl, limit } = operation;
      return orders.expire({ placedUntil: later(at, -ttl), limit }, (state) => decideExpiry(state, ttl, at));
    }
    case 'change':
      return animals.change(operation.edit.id, (state) => decideChange(state, operation.edit, sha256));
    case 'withdraw': {
      const { edit } = operation;
      let withdrawn: Animal | undefined;
      await animals.withdraw(edit.id, at, (state) => (withdrawn = decideWithdrawal(state, edit, sha256)));
      return withdrawn ?? 'nothing decided';
    }
  }
}

/** A store with two new accounts and three new animals. */
async function begin({ accounts, animals }: Pick<Ports, OrderPorts>, unique: Unique): Promise<State> {
  const opened = [0, 1].map(() => accounts.open(unique.account(`history-${unique.email()}`)));
  const added = [0, 1, 2].map(() => animals.add(newAnimal({ name: 'Luna', categoryId: 1n })));
  return {
    accounts: (await Promise.all(opened)).map(({ id }) => id),
    pets: new Map((await Promise.all(added)).map((pet) => [pet.id, pet])),
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
    pets: new Map(animals.map((pet) => [pet.id, pet])),
    orders: new Map(sorted(lists.flat()).map((order) => [order.id, { ...order }])),
  };
}

/** Every `OrderRepository` behaves as if one operation followed another. */
export function orderHistories({ it, random }: TestFramework, opened: () => Pick<Ports, OrderPorts>): void {
  it('changes orders and animals, however many do so at once, as if one did after another', async () => {
    const [ports, unique, draws] = [opened(), new Unique(), new Draws(random)];
    const history = async (rounds: readonly (readonly Step[])[]) => {
      // Orders of an earlier history would be due in this one.
      const earlier = { placedUntil: later(NOON, HOUR), limit: 1_000 };
      await ports.orders.expire(earlier, (state) => decideExpiry(state, 0, earlier.placedUntil));
      let state = await begin(ports, unique);
      for (const [minute, round] of rounds.entries()) {
        const now = later(NOON, minute * MINUTE);
        const operations = round.flatMap((step, index) => operationsOf(step, state, later(now, index)));
        const done = await Promise.all(operations.map((operation) => run(ports, operation)));
        const after = await look(ports, state);
        if (!explains(state, done, after)) {
          const told = [state, after].map(({ pets, orders }) => [[...pets.values()], [...orders.values()]]);
          throw new Error(`no order of these operations explains what they did: ${inWords({ done, told })}`);
        }
        state = after;
      }
    };
    await checkDrawn(30, () => draws.many(2, 8, () => drawRound(draws)), history);
  });
}
