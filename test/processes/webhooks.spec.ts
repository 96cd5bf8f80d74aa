import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, expectDatabaseErrors, freePort, Running, until, WORKER } from '@adoption-store/test-support';
import { Webhook } from 'standardwebhooks';
import { atEvenPace } from '../support/even-pace.js';
import { type Replicas, startReplicas } from '../support/replicas.js';

/** As many as are promised. A busy machine needs minutes for them. */
const LARGE = { GOOD: 15, SECONDS: 40, CHANGES_PER_SECOND: 50, KILLS: 20, LATEST: 15_000 };
/** LATEST, in milliseconds from a change to its last delivery, is many times what it takes: the machine may be busy. */
const SMALL = { GOOD: 4, SECONDS: 8, CHANGES_PER_SECOND: 10, KILLS: 2, LATEST: 120_000 };
const IS_LARGE = process.env['WEBHOOKS_LARGE'] !== undefined;
const { GOOD, SECONDS, CHANGES_PER_SECOND, KILLS, LATEST } = IS_LARGE ? LARGE : SMALL;
const MOST_OF_AN_ACCOUNT = 10;

const SETTINGS = { WEBHOOK_ALLOW: '127.0.0.0/8' };

/**
 * The deliveries of turns that aren't over: those of the killed worker will be made again. A turn has at most 20, but many
 * are due at the same instant, and any of those may be among them.
 */
const IN_FLIGHT = `
  SELECT webhooks.id || ' evt_' || replace(events.id::text, '-', '') AS delivery,
    row_number() OVER (PARTITION BY webhooks.id) <= 20 AS "fits"
  FROM webhooks, LATERAL (
    SELECT position FROM webhook_deliveries WHERE webhook_id = webhooks.id AND status = 'queued'
    ORDER BY due_at FETCH FIRST 20 ROWS WITH TIES
  ) AS claimed JOIN events USING (position)
  WHERE busy_until > now() AND webhooks.id = ANY($1)`;

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
  const killed: Running[] = [];
  /** How often a worker was killed that may have been sending this delivery. */
  const inFlight = new Map<string, number>();
  let mostAgain = 0;
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
    const settings = { ...SETTINGS, DATABASE_URL: replicas.databaseUrl, LOG_LEVEL: 'warn' };
    const worker = new Running(WORKER, [], { ...settings, WORKER_PORT: '0', WORKER_HOST: '127.0.0.1' });
    await worker.prints(/The worker is ready/);
    return worker;
  }

  async function kill(worker: Running | undefined): Promise<void> {
    if (worker === undefined) return;
    await worker.stop('SIGKILL');
    killed.push(worker);
    const open = await sql<{ delivery: string; fits: boolean }>(IN_FLIGHT, [good.map(({ id }) => id)]);
    for (const { delivery } of open) inFlight.set(delivery, (inFlight.get(delivery) ?? 0) + 1);
    mostAgain += open.filter(({ fits }) => fits).length;
  }

  /** Kills one worker before its deliveries are answered, and after `pause` the other one, then starts two others. */
  async function killBoth(pause: () => Promise<void>): Promise<void> {
    const [first, second] = workers;
    const held: (() => void)[] = [];
    Receiver.held = held;
    await until(() => held.length > 0);
    await kill(first);
    Receiver.held = undefined;
    for (const answer of held) answer();
    await pause();
    await kill(second);
    // As a minute later, when the killed workers' turns are over.
    await sql('UPDATE webhooks SET busy_until = now(), turn_at = now()');
    workers = await Promise.all([startWorker(), startWorker()]);
  }

  beforeAll(async () => {
    // On a busy machine, publishing may wait long for the end of a turn.
    expectDatabaseErrors('55P03');
    replicas = await startReplicas(SETTINGS);
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
      const email = `receiver-${Math.floor(index / MOST_OF_AN_ACCOUNT)}@example.com`;
      const authorization = `Bearer ${await replicas.issueKey(email)}`;
      const created = await replicas.send(
        'POST',
        `${replicas.originOf(index)}/v1/webhooks`,
        { url },
        { authorization },
      );
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

  async function add(): Promise<number> {
    const body = { name: `Luna ${(sent += 1)}`, categoryId: 1 };
    return (await replicas.send('POST', `${replicas.originOf(sent)}/v1/pets`, body)).status;
  }

  /** Adds animals at an even pace. */
  async function makeChanges(isOver: () => boolean = () => true): Promise<void> {
    const most = SECONDS * CHANGES_PER_SECOND;
    const statuses = await atEvenPace(CHANGES_PER_SECOND, (begun) => begun >= most && isOver(), add);
    // A refused one may have been stored all the same.
    expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([]);
    added += statuses.filter((status) => status === 201).length;
  }

  /** Waits until the good receivers have answered every event, and returns what came again, without a reason. */
  async function expectAll(): Promise<readonly string[]> {
    await until(async () => (await sql('SELECT FROM event_outbox LIMIT 1')).length === 0);
    const stored = await sql<{ id: string }>(`SELECT 'evt_' || replace(id::text, '-', '') AS id FROM events`);
    const events = new Set(stored.map(({ id }) => id));
    expect(events.size).toBeGreaterThanOrEqual(added);
    await until(() => good.every(({ answered }) => answered.size >= events.size));
    for (const { answered, refused } of good) {
      expect(refused).toEqual([]);
      expect(answered).toEqual(events);
    }
    const doubles = good.flatMap(({ id, deliveries }) =>
      [...deliveries].map(([event, times]) => ({ delivery: `${id} ${event}`, again: times - 1 })),
    );
    const again = doubles.reduce((sum, each) => sum + each.again, 0);
    const slowest = Math.max(...good.map((receiver) => receiver.slowest));
    if (IS_LARGE)
      console.log(
        `${events.size} events, the slowest after ${slowest} ms, ${again} deliveries again, at most ${mostAgain}`,
      );
    const tooMany = again > mostAgain ? [`${again} came again, and at most ${mostAgain} were on their way`] : [];
    const unexplained = doubles.filter(({ delivery, again }) => again > (inFlight.get(delivery) ?? 0));
    return (await wasSlow()) ? [] : [...unexplained.map(({ delivery }) => delivery), ...tooMany];
  }

  /** Whether an outcome couldn't be stored in time, or an answer came too late: then deliveries are made again. */
  async function wasSlow(): Promise<boolean> {
    const late = 'SELECT FROM webhook_deliveries WHERE failures > 0 AND webhook_id = ANY($1) LIMIT 1';
    const failed = [...workers, ...killed].some(({ stdout }) => stdout.includes('the loop failed'));
    return failed || (await sql(late, [good.map(({ id }) => id)])).length > 0;
  }

  it('bring every event to the good receivers soon, and once, whatever bad ones do', async () => {
    await makeChanges();
    expect(await expectAll()).toEqual([]);
    expect(Math.max(...good.map(({ slowest }) => slowest))).toBeLessThan(LATEST);
  });

  it('lose no event if workers are killed, and bring again only what was on its way', async () => {
    let kills = 0;
    const begun = sent;
    const pause = async () => {
      kills += 1;
      await until(() => sent >= begun + (kills * SECONDS * CHANGES_PER_SECOND) / KILLS);
    };
    const changing = makeChanges(() => kills >= KILLS);
    while (kills < KILLS) {
      await killBoth(pause);
      await pause();
    }
    await changing;
    expect(await expectAll()).toEqual([]);
  });
});
