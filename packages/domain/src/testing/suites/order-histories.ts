import type { AccountId } from '../../accounts/account.js';
import {
  type Animal,
  type AnimalChange,
  type AnimalId,
  animalVersion,
  newAnimal,
  PET_STATUSES,
  type PetStatus,
} from '../../animals/animal.js';
import { DomainError } from '../../kernel/errors.js';
import { HOUR, type Instant, later, MINUTE } from '../../kernel/clock.js';
import type { Ports } from '../../application.js';
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
  | { readonly kind: 'expire'; readonly placedUntil: Instant; readonly limit: number; readonly at: Instant }
  /** `wanted` is the animal before the round: the change is for that version only. */
  | { readonly kind: 'change'; readonly animalId: AnimalId; readonly change: AnimalChange; readonly wanted?: Animal }
  | { readonly kind: 'withdraw'; readonly animalId: AnimalId; readonly at: Instant; readonly wanted?: Animal };

type HistoryPorts = OrderPorts | 'cryptography';

/** An operation reports the orders that it placed or ended, the animal as changed, or why it did nothing. */
type Report = readonly Order[] | Animal | string;

interface Done {
  readonly operation: Operation;
  readonly report: Report;
}

/** Everything a state holds, as seen from outside. */
interface State {
  readonly accounts: readonly AccountId[];
  readonly pets: ReadonlyMap<AnimalId, Animal>;
  /** By id, in the order in which they were placed. */
  readonly orders: ReadonlyMap<OrderId, Order>;
}

/** The report and the state after the operation, if it runs alone. Only the id of a new order is chosen by the store. */
function outcomeOf(state: State, { operation, report }: Done): { readonly report: Report; readonly after: State } {
  switch (operation.kind) {
    case 'change':
      return changed(state, operation);
    case 'withdraw':
      return withdrawn(state, operation);
    default: {
      const orders = changedOrders(state, operation, report);
      return { report: orders, after: withOrders(state, orders) };
    }
  }
}

function changedOrders(
  { pets, orders }: State,
  operation: Exclude<Operation, { readonly kind: 'change' | 'withdraw' }>,
  report: Report,
): readonly Order[] {
  const { at } = operation;
  if (operation.kind === 'place') {
    const { accountId, animalId } = operation;
    const id = (report as readonly Order[])[0]?.id ?? (0n as OrderId);
    if (pets.get(animalId)?.status !== 'available' || orders.has(id)) return [];
    return [{ id, accountId, animalId, status: 'placed', createdAt: at, updatedAt: at }];
  }
  const placed = placedOf(orders);
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

function changed(state: State, { animalId, change, wanted }: Extract<Operation, { readonly kind: 'change' }>) {
  const pet = state.pets.get(animalId);
  const refused = (report: string) => ({ report, after: state });
  if (pet === undefined) return refused('unknown');
  if (wanted !== undefined && !isSame(pet, wanted)) return refused('precondition_failed');
  const { name = pet.name, status = pet.status } = change;
  if (status !== pet.status) {
    if (isOrdered(state, animalId)) return refused('order_in_progress');
    if (status === 'sold' || pet.status === 'sold') return refused('invalid_transition');
  }
  const report: Animal = { ...pet, name, status };
  return { report, after: { ...state, pets: new Map([...state.pets, [animalId, report]]) } };
}

function withdrawn(state: State, { animalId, wanted }: Extract<Operation, { readonly kind: 'withdraw' }>) {
  const pet = state.pets.get(animalId);
  const refused = (report: string) => ({ report, after: state });
  if (pet === undefined) return refused('unknown');
  if (wanted !== undefined && !isSame(pet, wanted)) return refused('precondition_failed');
  if (isOrdered(state, animalId)) return refused('order_in_progress');
  return { report: 'withdrawn', after: { ...state, pets: new Map([...state.pets].filter(([id]) => id !== animalId)) } };
}

function withOrders({ accounts, pets, orders }: State, some: readonly Order[]): State {
  const after = new Map(pets);
  for (const { animalId, status } of some) {
    const pet = after.get(animalId);
    if (pet !== undefined) after.set(animalId, { ...pet, status: petStatusAfter[status] });
  }
  return { accounts, pets: after, orders: new Map([...orders, ...some.map((order) => [order.id, order] as const)]) };
}

function placedOf(orders: State['orders']): readonly Order[] {
  return [...orders.values()].filter(({ status }) => status === 'placed');
}

function isOrdered({ orders }: State, animalId: AnimalId): boolean {
  return placedOf(orders).some((order) => order.animalId === animalId);
}

function isSame(one: Animal, other: Animal): boolean {
  return textOf(one) === textOf(other);
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
  | { readonly kind: 'place'; readonly account: number; readonly pet: number }
  /** `order` is its place among those there are, 0 being the newest. */
  | { readonly kind: 'end'; readonly order: number; readonly isOwn: boolean; readonly outcome: OrderOutcome }
  | { readonly kind: 'expire'; readonly minutes: number; readonly limit: number }
  | {
      readonly kind: 'change' | 'withdraw';
      readonly pet: number;
      readonly status: PetStatus | undefined;
      /** Whether it is for the version that the animal has before the round. */
      readonly isForVersion: boolean;
    };

function drawStep(draws: Draws): Step {
  if (draws.isOneOf(3)) return { kind: 'place', account: draws.integer(0, 1), pet: draws.integer(0, 2) };
  if (draws.isOneOf(2)) {
    const status = draws.isOneOf(4) ? undefined : draws.pick(PET_STATUSES);
    const kind = draws.isOneOf(5) ? 'withdraw' : 'change';
    return { kind, pet: draws.integer(0, 2), status, isForVersion: draws.isOneOf(2) };
  }
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
  if (step.kind !== 'end') {
    const { kind, status, isForVersion } = step;
    const pet = [...state.pets.values()][step.pet];
    if (pet === undefined) return [];
    const wanted = isForVersion ? { wanted: pet } : {};
    const about = { animalId: pet.id, at, ...wanted };
    // The name identifies the change.
    return [kind === 'withdraw' ? { kind, ...about } : { kind, ...about, change: { name: `Luna at ${at}`, status } }];
  }
  const { kind, outcome, isOwn } = step;
  const order = sorted(state.orders.values()).at(-1 - step.order);
  const accountId = state.accounts.find((account) => (account === order?.accountId) === isOwn);
  return order === undefined || accountId === undefined ? [] : [{ kind, outcome, accountId, id: order.id, at }];
}

async function run(ports: Pick<Ports, HistoryPorts>, operation: Operation): Promise<Done> {
  return { operation, report: await reportOf(ports, operation) };
}

async function reportOf(ports: Pick<Ports, HistoryPorts>, operation: Operation): Promise<Report> {
  const { animals, orders, cryptography } = ports;
  const versions = (wanted: Animal | undefined) =>
    wanted && [animalVersion(wanted, (text) => cryptography.sha256(text))];
  const because = (error: unknown): string => {
    if (error instanceof DomainError) return error.code;
    throw error;
  };
  switch (operation.kind) {
    case 'place': {
      const { accountId, animalId, at } = operation;
      const order = await orders.place({ accountId, animalId, createdAt: at });
      return order === undefined ? [] : [order];
    }
    case 'end': {
      const order = await orders.end(operation);
      return order === undefined ? [] : [order];
    }
    case 'expire':
      return orders.expire(operation);
    case 'change': {
      const { animalId, change, wanted } = operation;
      return (await animals.change(animalId, change, versions(wanted)).catch(because)) ?? 'unknown';
    }
    case 'withdraw': {
      const { animalId, at, wanted } = operation;
      const withdrawn = await animals.withdraw(animalId, at, versions(wanted)).catch(because);
      return typeof withdrawn === 'string' ? withdrawn : withdrawn ? 'withdrawn' : 'unknown';
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
export function orderHistories({ it, random }: TestFramework, opened: () => Pick<Ports, HistoryPorts>): void {
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
