import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, expectDatabaseErrors, freePort, type Running, until } from '@adoption-store/test-support';
import { Webhook } from 'standardwebhooks';
import { atEvenPace } from '../support/even-pace.js';
import { type Replicas, startReplicas } from '../support/replicas.js';
import { startWorker as startOne } from '../support/services.js';

const GOOD = 4;
const CHANGES = 80;
const CHANGES_PER_SECOND = 10;
const KILLS = 2;
/** Milliseconds from a change to its last delivery, ten times what is promised: the machine may be busy. */
const LATEST = 50_000;
/** Stored events: those of a day, and older ones that are to be purged. */
const RECENT = 30_000;
const EXPIRED = 20_000;
const HISTORY = EXPIRED + RECENT;
/** Recoveries of one tenant, and webhooks that another deletes while their events are recovered. */
const RECOVERIES = 10;
const CYCLES = 20;
/** Recoveries that are asked for at the same time. */
const AT_ONCE = 5;
/** Of these milliseconds, each deleted webhook had its events recovered. */
const RECOVERED = 864_000;

const SETTINGS = { WEBHOOK_ALLOW: '127.0.0.0/8' };

const STORE_HISTORY = `
  INSERT INTO events (position, sequence, id, account_id, type, created_at, data)
  SELECT n, n, gen_random_uuid(), 0, 'pet.added',
    now() - CASE WHEN n <= ${EXPIRED} THEN interval '31 days' ELSE (${HISTORY} - n) * interval '1 day' / ${RECENT} END,
    json_build_object('id', n, 'name', 'Luna', 'categoryId', 1, 'status', 'available')
  FROM generate_series(1, ${HISTORY}) AS n;
  UPDATE event_feed SET last_position = ${HISTORY};
  ANALYZE events`;

/** A receiver that verifies what it gets, as its owner would. */
class Receiver {
  /** How often each event came, by its id. */
  readonly deliveries = new Map<string, number>();
  /** The events whose delivery was answered. */
  readonly answered = new Set<string>();
  readonly refused: string[] = [];
  id = '';
  secret = '';
  slowest = 0;
  /** The answers that nobody has got yet. Undefined: each is given at once. */
  static held: (() => void)[] | undefined;

  readonly receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request);
    const id = String(request.headers['webhook-id']);
    try {
      if (request.url !== '/') throw new Error(`${request.url} is not its URL`);
      const headers = request.headers as Record<string, string>;
      const event = new Webhook(this.secret).verify(body, headers) as { readonly timestamp: string };
      this.deliveries.set(id, (this.deliveries.get(id) ?? 0) + 1);
      const answer = () => {
        // Its worker was killed.
        if (response.destroyed) return;
        if (!this.answered.has(id)) this.slowest = Math.max(this.slowest, Date.now() - Date.parse(event.timestamp));
        this.answered.add(id);
        response.writeHead(204).end();
      };
      if (Receiver.held === undefined) answer();
      else Receiver.held.push(answer);
    } catch (error) {
      this.refused.push(String(error));
      response.writeHead(400).end();
    }
  };
}

describe('webhooks, of two workers', () => {
  const servers: Server[] = [];
  const good = Array.from({ length: GOOD }, () => new Receiver());
  let replicas: Replicas;
  let workers: Running[] = [];
  /** Takes what other tenants recover. */
  let sink: string;
  let sent = 0;
  let added = 0;

  async function listen(receive: RequestListener): Promise<string> {
    const server = createServer(receive).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  const sql = <Row extends Record<string, unknown>>(text: string, values?: unknown[]) =>
    ask<Row>(replicas.databaseUrl, text, values);

  async function startWorker(): Promise<Running> {
    return (await startOne({ ...SETTINGS, DATABASE_URL: replicas.databaseUrl, LOG_LEVEL: 'warn' })).service;
  }

  /** Kills one worker before its deliveries are answered, and after `pause` the other one, then starts two others. */
  async function killBoth(pause: () => Promise<void>): Promise<void> {
    const [first, second] = workers;
    const held: (() => void)[] = [];
    Receiver.held = held;
    await until(() => held.length > 0);
    await first?.stop('SIGKILL');
    Receiver.held = undefined;
    for (const answer of held) answer();
    await pause();
    await second?.stop('SIGKILL');
    // As a minute later, when the killed workers' rounds are over.
    await sql('UPDATE webhooks SET busy_until = now(), turn_at = now()');
    workers = await Promise.all([startWorker(), startWorker()]);
  }

  beforeAll(async () => {
    // On a busy machine, publishing may wait long for the end of a round.
    expectDatabaseErrors('55P03');
    replicas = await startReplicas(SETTINGS);
    await sql(STORE_HISTORY);
    sink = await listen((_request, response) => response.writeHead(204).end());
    const urls: string[] = [];
    for (const { receive } of good) urls.push(await listen((request, response) => void receive(request, response)));
    const bad: readonly RequestListener[] = [
      // Hangs.
      () => undefined,
      // Drips.
      (_request, response) => {
        response.writeHead(200);
        const drip = setInterval(() => response.write('.'), 100);
        response.on('close', () => {
          clearInterval(drip);
        });
      },
      (_request, response) => response.writeHead(500).end(),
      (_request, response) => response.writeHead(302, { location: `${urls[0] ?? ''}redirected` }).end(),
    ];
    for (const receive of bad) urls.push(await listen(receive));
    // Refuses.
    urls.push(`http://127.0.0.1:${await freePort()}/`);
    for (const [index, url] of urls.entries()) {
      const created = await replicas.send('POST', `${replicas.originOf(index)}/v1/webhooks`, { url });
      expect(created).toMatchObject({ status: 201 });
      Object.assign(good[index] ?? {}, JSON.parse(created.text) as { readonly id: string; readonly secret: string });
    }
    workers = await Promise.all([startWorker(), startWorker()]);
  });
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.stop('SIGKILL')));
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
    await replicas.close();
  });

  /** A tenant's request about its webhooks, which is repeated while the machine is too busy for it. */
  async function request(key: string, method: string, path: string, body?: object): Promise<string> {
    let answer = { status: 503, text: '' };
    await until(async () => {
      const url = `${replicas.originOf((sent += 1))}/v1/webhooks${path}`;
      answer = await replicas.send(method, url, body, { authorization: `Bearer ${key}` });
      return answer.status !== 503;
    });
    // A refused one may have been done all the same.
    if (answer.status >= 300 && !(method === 'DELETE' && answer.status === 404))
      throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.text;
  }

  const createSinking = async (key: string) =>
    (JSON.parse(await request(key, 'POST', '', { url: sink })) as { readonly id: string }).id;
  const recover = (key: string, id: string, since: number) =>
    request(key, 'POST', `/${id}/recover`, { since: new Date(since).toISOString() });

  /** Recovers little, by requests that may have to read a whole day for it. */
  async function recoverOften(): Promise<void> {
    const key = await replicas.issueKey('recovering@example.com');
    let begun = 0;
    const repeat = async () => {
      const id = await createSinking(key);
      while ((begun += 1) <= RECOVERIES) await recover(key, id, Date.now());
    };
    await Promise.all(Array.from({ length: AT_ONCE }, repeat));
  }

  /** Has events recovered by webhooks that are deleted a little later. */
  async function deleteRecovering(): Promise<void> {
    const key = await replicas.issueKey('deleting@example.com');
    const ids: string[] = [];
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      const id = await createSinking(key);
      await recover(key, id, Date.now() - RECOVERED);
      ids.push(id);
      if (ids.length === AT_ONCE) await request(key, 'DELETE', `/${ids.shift()}`);
    }
    for (const id of ids) await request(key, 'DELETE', `/${id}`);
  }

  async function add(): Promise<number> {
    const body = { name: `Luna ${(sent += 1)}`, categoryId: 1 };
    return (await replicas.send('POST', `${replicas.originOf(sent)}/v1/pets`, body)).status;
  }

  /** Adds animals at an even pace. */
  async function makeChanges(isOver: () => boolean = () => true): Promise<void> {
    const statuses = await atEvenPace(CHANGES_PER_SECOND, (begun) => begun >= CHANGES && isOver(), add);
    // A refused one may have been stored all the same.
    expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([]);
    added += statuses.filter((status) => status === 201).length;
  }

  /** Waits until the good receivers have answered every event. */
  async function expectAll(): Promise<void> {
    await until(async () => (await sql('SELECT FROM event_outbox LIMIT 1')).length === 0);
    const stored = await sql<{ id: string }>(
      `SELECT 'evt_' || replace(id::text, '-', '') AS id FROM events WHERE position > ${HISTORY}`,
    );
    const events = new Set(stored.map(({ id }) => id));
    expect(events.size).toBeGreaterThanOrEqual(added);
    await until(() => good.every(({ answered }) => answered.size >= events.size));
    for (const { answered, refused } of good) {
      expect(refused).toEqual([]);
      expect(answered).toEqual(events);
    }
  }

  /** Whether an outcome couldn't be stored in time, or an answer came too late: then deliveries are made again. */
  async function wasSlow(): Promise<boolean> {
    const late = 'SELECT FROM webhook_deliveries WHERE failures > 0 AND webhook_id = ANY($1) LIMIT 1';
    const failed = workers.some(({ stdout }) => stdout.includes('the loop failed'));
    return failed || (await sql(late, [good.map(({ id }) => id)])).length > 0;
  }

  it('bring every event to the good receivers soon, and once, whatever bad ones do and other tenants recover, delete and let expire', async () => {
    let isQuiet = false;
    const others = Promise.all([recoverOften(), deleteRecovering()]).finally(() => (isQuiet = true));
    await Promise.all([makeChanges(() => isQuiet), others]);
    await expectAll();
    const again = good.flatMap(({ deliveries }) => [...deliveries].filter(([, times]) => times > 1));
    if (!(await wasSlow())) expect(again).toEqual([]);
    expect(Math.max(...good.map(({ slowest }) => slowest))).toBeLessThan(LATEST);
    await until(async () => (await sql(`SELECT FROM events WHERE position <= ${EXPIRED} LIMIT 1`)).length === 0);
  });

  it('lose no event if workers are killed before their deliveries are answered', async () => {
    let kills = 0;
    const begun = sent;
    const pause = async () => {
      kills += 1;
      await until(() => sent >= begun + (kills * CHANGES) / KILLS);
    };
    const changing = makeChanges(() => kills >= KILLS);
    while (kills < KILLS) {
      await killBoth(pause);
      await pause();
    }
    await changing;
    await expectAll();
  });
});
