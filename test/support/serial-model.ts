import {
  type AccountId,
  type Animal,
  type AnimalId,
  type Application,
  type CategoryId,
  createApplication,
  DEFAULT_ORDER_TTL,
  DomainError,
  HOUR,
  later,
  type OrderId,
  type PetStatus,
  type Ports,
} from '@adoption-store/domain';
import { inMemoryPorts, unchanged } from '@adoption-store/domain/testing';

export const CATEGORY = 1n as CategoryId;
/** The accounts, by their addresses. */
export const ACCOUNTS = ['first@example.com', 'second@example.com'] as const;
const NONE = 0n as OrderId;
const STATUSES: Partial<Record<DomainError['kind'], number>> = { not_found: 404, precondition: 412, conflict: 409 };

export interface Content {
  readonly name: string;
  readonly status: PetStatus;
}

/** A command of one caller. `wanted` is for If-Match: the animal must have this content. */
export type Command =
  | { readonly kind: 'change'; readonly change: Partial<Content>; readonly wanted?: Content | undefined }
  | { readonly kind: 'withdraw'; readonly wanted?: Content | undefined }
  | { readonly kind: 'place'; readonly account: number }
  | { readonly kind: 'complete' | 'cancel'; readonly account: number; readonly order: OrderId }
  | { readonly kind: 'expire' };

/** A command with its answer, and the id of the order that it placed. */
export interface Call {
  readonly command: Command;
  readonly answer: string;
  readonly placed?: OrderId | undefined;
}

/** An answer as text: its status, and its error, animal or order. */
export function inWords(
  answer: number,
  { code, name, id, status }: { code?: string; name?: string; id?: number | bigint; status?: string } = {},
): string {
  if (code !== undefined) return `${answer} ${code}`;
  return [answer, name ?? (id === undefined ? '' : `order ${id}`), status ?? ''].join(' ').trimEnd();
}

export function ofExpired(ids: readonly OrderId[]): string {
  return `expired ${ids.length === 0 ? 'none' : ids.join()}`;
}

/** The animal and the accounts' orders, as text. Only orders with a greater id than `after`. */
export async function stateOf(
  { animals, orders }: Ports,
  animalId: AnimalId,
  accounts: readonly AccountId[],
  { after = NONE, nameOf = (id: OrderId) => id } = {},
): Promise<string> {
  const animal = await animals.findById(animalId);
  const lists = await Promise.all(accounts.map((accountId) => orders.list({ accountId, after, limit: 100 })));
  const placed = lists.flatMap((some, by) => some.map(({ id, status }) => `order ${nameOf(id)} of ${by} ${status}`));
  return [animal === undefined ? 'no animal' : `${animal.name} ${animal.status}`, ...placed.sort()].join(', ');
}

/** The ids of the placed orders in a state. */
export function placedIn(state: string): readonly OrderId[] {
  return Array.from(state.matchAll(/order (\d+) of \d placed/g), ([, id = '']) => BigInt(id) as OrderId);
}

/** Expires every placed order, because its clock is ahead. */
export function expiryOf(ports: Ports): Application['expireOrders'] {
  const now = () => later(ports.clock.now(), DEFAULT_ORDER_TTL + HOUR);
  return createApplication({ ...ports, clock: { now } }).expireOrders;
}

/** The model of what the processes promise: the domain's use cases in memory, one after another. */
export class SerialModel {
  private readonly ports = inMemoryPorts();
  private readonly application = createApplication(this.ports);
  private readonly expireOrders = expiryOf(this.ports);
  private readonly accounts: AccountId[] = [];
  /** The model's orders, by their ids in the processes. */
  private readonly orders = new Map<OrderId, OrderId>();

  private constructor(private readonly animalId: AnimalId) {}

  static async with(animal: Content, id: AnimalId): Promise<SerialModel> {
    const model = new SerialModel(id);
    const file = async function* () {
      yield [{ line: 1, id, animal: { ...animal, categoryId: CATEGORY } }];
    };
    await model.ports.animalImporter.importAll(file(), () => true);
    for (const email of ACCOUNTS) model.accounts.push((await model.application.openAccount.execute({ email })).id);
    return model;
  }

  /** Whether the model gives the same answer. An expiry may skip locked orders, which the next one finds. */
  async agreesWith({ command, placed, answer }: Call): Promise<boolean> {
    if (answer === ofExpired([])) return true;
    const own = await this.run(command, placed).catch((error: unknown) => {
      if (error instanceof DomainError) return inWords(STATUSES[error.kind] ?? 500, error);
      throw error;
    });
    return own === answer;
  }

  state(): Promise<string> {
    return stateOf(this.ports, this.animalId, this.accounts, { nameOf: (id) => this.nameOf(id) });
  }

  private async run(command: Command, placed = NONE): Promise<string> {
    const [id, application] = [this.animalId, this.application];
    const wanted = 'wanted' in command ? command.wanted : undefined;
    const condition = wanted && unchanged<Animal>({ ...wanted, id, categoryId: CATEGORY });
    const accountId = ('account' in command ? this.accounts[command.account] : undefined) ?? (0n as AccountId);
    switch (command.kind) {
      case 'change':
        return inWords(200, await application.changeAnimal.execute({ id, change: command.change, condition }));
      case 'withdraw':
        await application.withdrawAnimal.execute({ id, condition });
        return inWords(204);
      case 'place': {
        const { id: own, status } = await application.placeOrder.execute({ accountId, animalId: id });
        this.orders.set(placed, own);
        return inWords(201, { id: placed, status });
      }
      case 'complete':
      case 'cancel': {
        const use = command.kind === 'complete' ? application.completeOrder : application.cancelOrder;
        const { status } = await use.execute({ accountId, id: this.orders.get(command.order) ?? NONE });
        return inWords(200, { id: command.order, status });
      }
      case 'expire':
        return ofExpired((await this.expireOrders.execute()).expired.map((each) => this.nameOf(each.id)));
    }
  }

  private nameOf(own: OrderId): OrderId {
    return [...this.orders].find(([, id]) => id === own)?.[0] ?? NONE;
  }
}

/** An order of the calls in which the model gives the same answers and ends in that state. Undefined if there is none. */
export async function serialOrderOf(
  begin: () => Promise<SerialModel>,
  calls: readonly Call[],
  state: string,
  taken: readonly Call[] = [],
): Promise<readonly Call[] | undefined> {
  const model = await begin();
  for (const call of taken) if (!(await model.agreesWith(call))) return undefined;
  const left = calls.filter((call) => !taken.includes(call));
  if (left.length === 0) return (await model.state()) === state ? taken : undefined;
  for (const next of left) {
    const found = await serialOrderOf(begin, calls, state, [...taken, next]);
    if (found !== undefined) return found;
  }
  return undefined;
}
