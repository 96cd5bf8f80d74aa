import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@adoption-store/test-support';

/** Milliseconds between two requests of a client. */
const BREATH = 5;
/** Milliseconds between two requests to `/v1/rate_limit`, which a key may send 60 times a minute. */
const RATE_LIMIT_BREATH = 1_100;

/** Clients that use every operation of `OPERATIONS` until they are stopped. */
export class AllOperations {
  /** The responses that were not the expected ones. */
  readonly failures: string[] = [];
  /** The expected responses to each operation. */
  readonly answered = new Map<string, number>();
  /** The longest request, in milliseconds, and what it was. */
  longest = { took: 0, what: '' };
  private isStopping = false;
  private readonly agent = new Agent({ keepAlive: true });
  private readonly clients: readonly Promise<void>[];

  constructor(
    private readonly origins: readonly string[],
    private readonly key: string,
    clients = 8,
  ) {
    const works = Array.from({ length: clients }, (_, index) => this.repeat(() => this.useAll(index)));
    this.clients = [...works, this.repeat(() => this.readRateLimit())];
  }

  get count(): number {
    return [...this.answered.values()].reduce((sum, each) => sum + each, 0);
  }

  /**
   * Waits for that many more expected responses, and for the condition.
   *
   * @throws Error with the first response that was not the expected one.
   */
  async goesOn(more: number, isTrue: () => boolean | Promise<boolean> = () => true): Promise<void> {
    const goal = this.count + more;
    await until(async () => this.failures.length > 0 || (this.count >= goal && (await isTrue())));
    if (this.failures.length > 0) throw new Error(this.failures[0]);
  }

  /** Stops, and waits for all responses. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.clients);
    this.agent.destroy();
  }

  private async repeat(work: () => Promise<unknown>): Promise<void> {
    while (!this.isStopping) await work();
  }

  private async useAll(client: number): Promise<void> {
    const call = async (expected: number, operation: string, { path = '', body = '', key = '' } = {}) => {
      await delay(BREATH);
      const origin = this.origins[client % this.origins.length] ?? '';
      return this.send(origin, expected, operation, { path: path || operation.replace(/^\w+ /, ''), body, key });
    };
    const pet = { body: '{"name":"Luna","categoryId":1}' };
    const [first, key] = [await call(201, 'POST /v1/pets', pet), randomUUID()];
    const second = await call(201, 'POST /v1/pets', { ...pet, key });
    await call(201, 'POST /v1/pets', { ...pet, key });
    await call(200, 'GET /v1/pets/:id', { path: `/v1/pets/${first}` });
    await call(200, 'GET /v1/pets');
    for (const [petId, end] of [
      [first, 'complete'],
      [second, 'cancel'],
    ]) {
      const order = await call(201, 'POST /v1/store/orders', { body: `{"petId":${petId}}`, key: randomUUID() });
      await call(200, 'GET /v1/store/orders/:id', { path: `/v1/store/orders/${order}` });
      await call(200, `POST /v1/store/orders/:id/${end}`, { path: `/v1/store/orders/${order}/${end}` });
    }
    await call(200, 'GET /v1/store/orders');
    const message = await call(202, 'POST /v1/messages', { body: '{"message":"A question."}', key: randomUUID() });
    await call(200, 'GET /v1/messages/:id', { path: `/v1/messages/${message}` });
  }

  private async readRateLimit(): Promise<void> {
    await this.send(this.origins[0] ?? '', 200, 'GET /v1/rate_limit', { path: '/v1/rate_limit' });
    await delay(RATE_LIMIT_BREATH);
  }

  /** Returns the `id` of the response, or 0. */
  private send(
    origin: string,
    expected: number,
    operation: string,
    { path, body = '', key = '' }: { readonly path: string; readonly body?: string; readonly key?: string },
  ): Promise<string | number> {
    const begin = performance.now();
    const [method = ''] = operation.split(' ');
    const headers = {
      authorization: `Bearer ${this.key}`,
      ...(body !== '' && { 'content-type': 'application/json' }),
      ...(key !== '' && { 'idempotency-key': key }),
    };
    return new Promise((resolve) => {
      const finish = (status: number, text: string) => {
        const took = Math.round(performance.now() - begin);
        if (took > this.longest.took) this.longest = { took, what: operation };
        if (status === expected) this.answered.set(operation, (this.answered.get(operation) ?? 0) + 1);
        else this.failures.push(`${operation} was ${status} after ${took} ms: ${text}`);
        resolve(/"id":"?([^",}]+)/.exec(text)?.[1] ?? 0);
      };
      request(`${origin}${path}`, { agent: this.agent, method, headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += String(chunk)));
        response.on('error', ({ message }) => {
          finish(0, message);
        });
        response.on('end', () => {
          finish(response.statusCode ?? 0, text);
        });
      })
        .on('error', ({ message }) => {
          finish(0, message);
        })
        .end(body);
    });
  }
}

/** Every operation that the version before served: some of them run before its schema is brought up to date. */
export const OPERATIONS = [
  'GET /v1/messages/:id',
  'GET /v1/pets',
  'GET /v1/pets/:id',
  'GET /v1/rate_limit',
  'GET /v1/store/orders',
  'GET /v1/store/orders/:id',
  'POST /v1/messages',
  'POST /v1/pets',
  'POST /v1/store/orders',
  'POST /v1/store/orders/:id/cancel',
  'POST /v1/store/orders/:id/complete',
];
