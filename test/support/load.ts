import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { until } from '@adoption-store/test-support';

/** Milliseconds that a client of the load waits from one answer to its next request. */
const BREATH = 5;

/** Milliseconds after which no answer is waited for. */
const HANG = 5_000;

export interface Answer {
  readonly what: 'read' | 'write' | 'stranger';
  /** 0 where there was none. */
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
  /** On the clock of `performance.now`. */
  readonly begin: number;
  readonly end: number;
}

/** One write, and the row that there is once it has happened. */
interface Write {
  readonly path: string;
  readonly body: string;
  readonly table: 'animals' | 'orders' | 'messages';
  readonly row: string;
  readonly idempotencyKey: string | undefined;
  isAcknowledged: boolean;
}

export interface Lost {
  /** Rows of writes that were acknowledged and are not there. */
  readonly lost: readonly string[];
  /** Rows that are there twice, though they were written under an Idempotency-Key. */
  readonly doubled: readonly string[];
}

let writesBegun = 0;

export interface LoadKeys {
  readonly key: string;
  /** One that was revoked. */
  readonly revoked: string;
}

/** Clients that go on reading and writing, whatever they are answered. */
export class Load {
  readonly answers: Answer[] = [];
  private readonly writes: Write[] = [];
  private readonly lanes: Promise<void>[] = [];
  private isStopping = false;

  /**
   * @param pets animals that are free, for one order each.
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
    for (let lane = 0; lane < readers; lane += 1) this.repeat(() => this.read(reads[lane % reads.length] ?? ''));
    for (let lane = 0; lane < writers; lane += 1) this.repeat(() => this.write(this.nextWrite(lane)));
    for (let lane = 0; lane < strangers; lane += 1) this.repeat(() => this.read('/v1/pets', this.keys.revoked));
    return this;
  }

  /** Until so many more answers have come. */
  async answered(count: number, isCounted: (answer: Answer) => boolean = () => true): Promise<void> {
    const from = this.answers.length;
    await until(() => this.answers.slice(from).filter(isCounted).length >= count);
  }

  /** Until it has had an answer to everything. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.lanes);
    this.agent.destroy();
  }

  /** Answers to so many reads at once. */
  async burst(count: number): Promise<readonly Answer[]> {
    return Promise.all(Array.from({ length: count }, () => this.read('/v1/pets?limit=5')));
  }

  /** Sends what was not acknowledged, yet may have happened, once more: all that bears an Idempotency-Key. */
  async retryAt(origin: string): Promise<readonly Answer[]> {
    const unknown = this.writes.filter((write) => !write.isAcknowledged && write.idempotencyKey !== undefined);
    const retrying = new Load(origin, this.keys, this.pets);
    const answers = await Promise.all(unknown.map((write) => retrying.write(write)));
    await retrying.stop();
    return answers;
  }

  get acknowledged(): number {
    return this.writes.filter(({ isAcknowledged }) => isAcknowledged).length;
  }

  /** What the database tells of the writes. */
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
    const lane = async () => {
      while (!this.isStopping) {
        await work();
        await delay(BREATH);
      }
    };
    this.lanes.push(lane());
  }

  private async read(path: string, key: string = this.keys.key): Promise<Answer> {
    const what = key === this.keys.key ? 'read' : 'stranger';
    return this.send('GET', path, { authorization: `Bearer ${key}` }, what);
  }

  /** Every other one under an Idempotency-Key. */
  private nextWrite(lane: number): Write {
    const text = `write ${(writesBegun += 1)}`;
    const idempotencyKey = writesBegun % 2 === 0 ? text : undefined;
    const common = { idempotencyKey, isAcknowledged: false };
    const pet = lane % 3 === 0 ? (this.pets.next().value as number) : undefined;
    if (pet !== undefined)
      return { ...common, path: '/v1/store/orders', body: `{"petId":${pet}}`, table: 'orders', row: String(pet) };
    return lane % 3 === 1
      ? { ...common, path: '/v1/messages', body: `{"message":"${text}"}`, table: 'messages', row: text }
      : { ...common, path: '/v1/pets', body: `{"name":"${text}","categoryId":1}`, table: 'animals', row: text };
  }

  private async write(write: Write): Promise<Answer> {
    this.writes.push(write);
    const { idempotencyKey, path, body } = write;
    const headers = {
      authorization: `Bearer ${this.keys.key}`,
      'content-type': 'application/json',
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    };
    const answer = await this.send('POST', path, headers, 'write', body);
    if (isSuccess(answer)) write.isAcknowledged = true;
    return answer;
  }

  private send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    what: Answer['what'],
    sent?: string,
  ): Promise<Answer> {
    const begin = performance.now();
    return new Promise((resolve) => {
      const finish = (status: number, body: string, retryAfter?: string) => {
        const answer = { what, status, body, retryAfter, begin, end: performance.now() };
        this.answers.push(answer);
        resolve(answer);
      };
      const asked = request(
        `${this.origin}${path}`,
        { agent: this.agent, method, headers, timeout: HANG },
        (response) => {
          let text = '';
          response.on('data', (chunk) => (text += String(chunk)));
          response.on('error', () => undefined);
          response.on('close', () => {
            finish(response.complete ? (response.statusCode ?? 0) : 0, text, response.headers['retry-after']);
          });
        },
      );
      asked.on('timeout', () => {
        asked.destroy(new Error(`${method} ${path} was not answered`));
      });
      asked.on('error', ({ message }) => {
        finish(0, message);
      });
      asked.end(sent);
    });
  }
}

export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** Milliseconds. */
export function slowest(answers: readonly Answer[]): number {
  return Math.round(answers.reduce((most, { begin, end }) => Math.max(most, end - begin), 0));
}
