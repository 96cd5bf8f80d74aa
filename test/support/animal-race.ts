import { hash } from 'node:crypto';
import { type AccountId, type AnimalId, type OrderId, PET_STATUSES } from '@adoption-store/domain';
import { openInfrastructure } from '@adoption-store/infrastructure';
import fc from 'fast-check';
import type { Replicas } from './replicas.js';
import {
  ACCOUNTS,
  type Call,
  CATEGORY,
  type Command,
  type Content,
  expiryOf,
  inWords,
  ofExpired,
  placedIn,
  SerialModel,
  serialOrderOf,
  stateOf,
} from './serial-model.js';

/** An animal, the account that has ordered it before, and concurrent commands. Order 0 is the first of the round. */
interface Race {
  readonly animal: Content;
  readonly orderedBy: number | undefined;
  readonly commands: readonly Command[];
}

interface Result {
  readonly sent: readonly Call[];
  /** The calls in an order in which they have the same answers one after another. */
  readonly serial: readonly Call[];
}

const name = fc.constantFrom('Luna', 'Milo');
const status = fc.constantFrom(...PET_STATUSES);
// Usually the same, so that callers end each other's orders.
const account = fc.constantFrom(0, 0, 0, 0, 1);
const wanted = fc.option(fc.record({ name: fc.constant('Luna'), status }), { nil: undefined, freq: 2 });
const change = fc.record({ name, status }, { requiredKeys: [] }).filter((fields) => Object.keys(fields).length > 0);
// Usually one that exists, or that another caller is about to place.
const order = fc.constantFrom(...([0n, 0n, 0n, 0n, 1n] as OrderId[]));
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('change'), change, wanted }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('withdraw'), wanted }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('place'), account }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('complete', 'cancel'), account, order }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire') }) },
);

export const races: fc.Arbitrary<Race> = fc.record({
  animal: fc.record({
    name: fc.constant('Luna'),
    status: fc.oneof({ weight: 6, arbitrary: fc.constant('available' as const) }, status),
  }),
  orderedBy: fc.option(account, { nil: undefined, freq: 3 }),
  commands: fc.array(command, { minLength: 2, maxLength: 6 }),
});

interface Sent {
  readonly body?: object;
  readonly headers?: Record<string, string> | undefined;
}

/** Races for one animal each. Two processes get the HTTP requests in turn; this third process expires orders. */
export class Arena {
  private turn = 0;
  /** The greatest id of an order so far. */
  private last = 0n as OrderId;

  private constructor(
    private readonly replicas: Replicas,
    private readonly keys: readonly string[],
    private readonly accounts: readonly AccountId[],
    private readonly infrastructure: Awaited<ReturnType<typeof openInfrastructure>>,
  ) {}

  static async open(replicas: Replicas): Promise<Arena> {
    const keys: string[] = [];
    for (const email of ACCOUNTS) keys.push(await replicas.issueKey(email));
    const infrastructure = await openInfrastructure({ databaseUrl: replicas.databaseUrl, poolSize: 6 });
    const opened = await Promise.all(ACCOUNTS.map((email) => infrastructure.ports.accounts.findByEmail(email)));
    const accounts = opened.flatMap((each) => (each === undefined ? [] : [each.id]));
    return new Arena(replicas, keys, accounts, infrastructure);
  }

  /** @throws Error if an answer is 5xx, or if no serial run has these answers and this final state. */
  async run({ animal, orderedBy, commands }: Race): Promise<Result> {
    const { ports } = this.infrastructure;
    const added = await this.send('POST', '/v1/pets', 0, { body: { ...animal, categoryId: Number(CATEGORY) } });
    const id = BigInt(added.body.id ?? 0) as AnimalId;
    const after = this.last;
    const before = orderedBy === undefined ? [] : [await this.call(id, { kind: 'place', account: orderedBy })];
    const first = before[0]?.placed ?? this.last + 1n;
    const sent = await Promise.all(
      commands.map((each) =>
        this.call(id, 'order' in each ? { ...each, order: (first + each.order) as OrderId } : each),
      ),
    );
    const state = await stateOf(ports, id, this.accounts, { after });
    const begin = async () => {
      const model = await SerialModel.with(animal, id);
      for (const call of before)
        if (!(await model.agreesWith(call))) throw new Error(`${toJson(call.command)}: ${call.answer}`);
      return model;
    };
    const serial = await serialOrderOf(begin, sent, state);
    // Nothing is locked now, so this expires every order, and the next race begins without one.
    const { answer } = await this.call(id, { kind: 'expire' });
    const isExpired = answer === ofExpired(placedIn(state));
    if (serial !== undefined && isExpired) return { sent, serial };
    const told = [...before, ...sent].map(({ command, answer }) => `${toJson(command)}: ${answer}`).join('\n');
    const begun = `${animal.name} ${animal.status}`;
    throw new Error(`no serial run explains these answers:\n${begun}\n${told}\nleft: ${state}\nthen ${answer}`);
  }

  close(): Promise<void> {
    return this.infrastructure.close();
  }

  private async call(id: AnimalId, command: Command): Promise<Call> {
    if (command.kind === 'expire') {
      const { expired } = await expiryOf(this.infrastructure.ports).execute();
      return { command, answer: ofExpired(expired.map((order) => order.id)) };
    }
    const { status: answered, body } = await this.request(id, command);
    const answer = inWords(answered, body);
    if (command.kind !== 'place' || answered !== 201) return { command, answer };
    const placed = BigInt(body.id ?? 0) as OrderId;
    if (placed > this.last) this.last = placed;
    return { command, answer, placed };
  }

  private request(id: AnimalId, command: Exclude<Command, { readonly kind: 'expire' }>) {
    const pet = `/v1/pets/${id}`;
    switch (command.kind) {
      case 'change':
        return this.send('PATCH', pet, 0, { body: command.change, headers: ifMatch(id, command.wanted) });
      case 'withdraw':
        return this.send('DELETE', pet, 0, { headers: ifMatch(id, command.wanted) });
      case 'place':
        return this.send('POST', '/v1/store/orders', command.account, { body: { petId: Number(id) } });
      default:
        return this.send('POST', `/v1/store/orders/${command.order}/${command.kind}`, command.account);
    }
  }

  /** Every second request of a process has an Idempotency-Key, so that its transaction also stores the answer. */
  private async send(method: string, path: string, by: number, { body, headers }: Sent = {}) {
    const turn = (this.turn += 1);
    const { status: answered, text } = await this.replicas.send(method, this.replicas.originOf(turn) + path, body, {
      authorization: `Bearer ${this.keys[by] ?? ''}`,
      ...(method === 'POST' && turn % 4 < 2 && { 'idempotency-key': `race-${turn}` }),
      ...headers,
    });
    if (answered >= 500) throw new Error(`${method} ${path}: ${answered} ${text}`);
    return { status: answered, body: (text === '' ? {} : JSON.parse(text)) as Parameters<typeof inWords>[1] & object };
  }
}

/** The entity tag of the animal with this content: the hash of its JSON. */
function ifMatch(id: AnimalId, content: Content | undefined): Record<string, string> | undefined {
  if (content === undefined) return undefined;
  const { name, status } = content;
  const json = `{"id":${id},"name":"${name}","categoryId":${CATEGORY},"status":"${status}"}`;
  return { 'if-match': `"${hash('sha256', json)}"` };
}

function toJson(command: Command): string {
  return JSON.stringify(command, (_, part: unknown) => (typeof part === 'bigint' ? Number(part) : part));
}
