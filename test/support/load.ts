import { Agent, request, type RequestOptions } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { until } from '@adoption-store/test-support';

/** Milliseconds between a response and the next request of a client. */
const PAUSE = 20;

/** Milliseconds after which a client gives up a request. */
const HANG = 30_000;

export interface Answer {
  readonly what: 'read' | 'write' | 'stranger';
  /** 0 if there was no response. */
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
  /** Time of `performance.now()`. */
  readonly begin: number;
  readonly end: number;
}

/** One write, and the row that it creates. */
interface Write {
  readonly path: string;
  readonly body: string;
  readonly table: 'animals' | 'orders' | 'messages';
  readonly row: string;
  readonly idempotencyKey: string | undefined;
  isAcknowledged: boolean;
}

interface Lost {
  /** Rows of acknowledged writes that are missing. */
  readonly lost: readonly string[];
  /** Rows that exist twice although they were written under an Idempotency-Key. */
  readonly doubled: readonly string[];
}

let writesBegun = 0;

export interface LoadKeys {
  readonly key: string;
  /** A revoked key. */
  readonly revoked: string;
}

/** Clients that keep reading and writing, whatever the responses are. */
export class Load {
  readonly answers: Answer[] = [];
  private readonly writes: Write[] = [];
  private readonly clients: Promise<void>[] = [];
  private readonly open = new Set<Promise<Answer>>();
  private isStopping = false;

  /**
   * @param pets available animals, for one order each.
   * @param agent one of `node:https` for an origin with TLS.
   */
  constructor(
    private readonly origin: string,
    private readonly keys: LoadKeys,
    private readonly pets: Iterator<number>,
    private readonly agent = new Agent({ keepAlive: true, maxSockets: 64 }),
  ) {}

  start({ readers = 0, writers = 0, strangers = 0 }): this {
    const reads = ['/v1/pets?limit=5', '/v1/pets/1', '/v1/store/orders?limit=5', '/v1/pets?id=1&id=2'];
    for (let index = 0; index < readers; index += 1) this.repeat(() => this.read(reads[index % reads.length] ?? ''));
    for (let index = 0; index < writers; index += 1) this.repeat(() => this.use(this.nextWrite(index)));
    for (let index = 0; index < strangers; index += 1) this.repeat(() => this.read('/v1/pets', this.keys.revoked));
    return this;
  }

  /** Waits for `count` more responses. */
  async answered(count: number, isCounted: (answer: Answer) => boolean = () => true): Promise<void> {
    const from = this.answers.length;
    await until(() => this.answers.slice(from).filter(isCounted).length >= count, { within: 150_000 });
  }

  /** Waits for the responses to all requests that have been sent. */
  async settled(): Promise<void> {
    await Promise.all(this.open);
  }

  /** Stops, and waits for all responses. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.clients);
    this.agent.destroy();
  }

  /** The responses to `count` concurrent reads. */
  async burst(count: number): Promise<readonly Answer[]> {
    return Promise.all(Array.from({ length: count }, () => this.read('/v1/pets?limit=5')));
  }

  /** Repeats the unacknowledged writes that have an Idempotency-Key. */
  async retryAt(origin: string): Promise<readonly Answer[]> {
    const unknown = this.writes.filter((write) => !write.isAcknowledged && write.idempotencyKey !== undefined);
    const retrying = new Load(origin, this.keys, this.pets);
    const answers = await Promise.all(unknown.map((write) => retrying.write(write)));
    await retrying.stop();
    return answers;
  }

  /** Compares the writes with the database. */
  async losses(client: pg.Client): Promise<Lost> {
    const counts = new Map<string, number>();
    const { rows } = await client.query<{ row: string; count: number }>(`
      SELECT 'animals ' || name AS row, count(*)::integer FROM animals GROUP BY 1
      UNION ALL SELECT 'orders ' || animal_id, count(*)::integer FROM orders GROUP BY 1
      UNION ALL SELECT 'messages ' || text, count(*)::integer FROM messages GROUP BY 1`);
    for (const { row, count } of rows) counts.set(row, count);
    const found = this.writes.map((write) => ({ ...write, count: counts.get(`${write.table} ${write.row}`) ?? 0 }));
    return {
      lost: found.filter(({ isAcknowledged, count }) => isAcknowledged && count === 0).map(({ row }) => row),
      doubled: found
        .filter(({ idempotencyKey, count }) => idempotencyKey !== undefined && count > 1)
        .map(({ row }) => row),
    };
  }

  private repeat(work: () => Promise<unknown>): void {
    const client = async () => {
      while (!this.isStopping) {
        await work();
        await delay(PAUSE);
      }
    };
    this.clients.push(client());
  }

  private async read(path: string, key: string = this.keys.key): Promise<Answer> {
    const what = key === this.keys.key ? 'read' : 'stranger';
    return this.send(path, { method: 'GET', headers: { authorization: `Bearer ${key}` } }, what);
  }

  /** Every second write has an Idempotency-Key. */
  private nextWrite(client: number): Write {
    const text = `write ${(writesBegun += 1)}`;
    const idempotencyKey = writesBegun % 2 === 0 ? text : undefined;
    const common = { idempotencyKey, isAcknowledged: false };
    const pet = client % 3 === 0 ? (this.pets.next().value as number) : undefined;
    if (pet !== undefined)
      return { ...common, path: '/v1/store/orders', body: `{"petId":${pet}}`, table: 'orders', row: String(pet) };
    return client % 3 === 1
      ? { ...common, path: '/v1/messages', body: `{"message":"${text}"}`, table: 'messages', row: text }
      : { ...common, path: '/v1/pets', body: `{"name":"${text}","categoryId":1}`, table: 'animals', row: text };
  }

  /** Writes, then reads what was written, and ends an order. */
  private async use(write: Write): Promise<void> {
    const answer = await this.write(write);
    if (!isSuccess(answer)) return;
    const path = `${write.path}/${/"id":"?([^",}]+)/.exec(answer.body)?.[1] ?? ''}`;
    await this.read(path);
    if (write.table === 'orders') await this.post(`${path}/${write.idempotencyKey ? 'complete' : 'cancel'}`);
  }

  private post(path: string, body?: string, idempotencyKey?: string): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${this.keys.key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    };
    return this.send(path, { method: 'POST', headers }, 'write', body);
  }

  private async write(write: Write): Promise<Answer> {
    this.writes.push(write);
    const answer = await this.post(write.path, write.body, write.idempotencyKey);
    if (isSuccess(answer)) write.isAcknowledged = true;
    return answer;
  }

  private send(path: string, options: RequestOptions, what: Answer['what'], sent?: string): Promise<Answer> {
    const begin = performance.now();
    const answered = new Promise<Answer>((resolve) => {
      const finish = (status: number, body: string, retryAfter?: string) => {
        const answer = { what, status, body, retryAfter, begin, end: performance.now() };
        this.answers.push(answer);
        resolve(answer);
      };
      const asked = request(`${this.origin}${path}`, { ...options, agent: this.agent, timeout: HANG }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += String(chunk)));
        response.on('error', () => undefined);
        response.on('close', () => {
          finish(response.complete ? (response.statusCode ?? 0) : 0, text, response.headers['retry-after']);
        });
      });
      asked.on('timeout', () => {
        asked.destroy(new Error(`${options.method} ${path} was not answered`));
      });
      asked.on('error', ({ message }) => {
        finish(0, message);
      });
      asked.end(sent);
    });
    this.open.add(answered);
    void answered.then(() => this.open.delete(answered));
    return answered;
  }
}

export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}
