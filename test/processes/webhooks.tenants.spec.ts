import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, connectTo, expectDatabaseErrors, Running, until, WORKER } from '@adoption-store/test-support';
import { atEvenPace } from '../support/even-pace.js';
import { type Replicas, startReplicas } from '../support/replicas.js';

/** Stored events: those of a day, and older ones that are to be purged. */
const RECENT = 30_000;
const EXPIRED = 20_000;
const HISTORY = EXPIRED + RECENT;
const HONEST = 20;
/** Recoveries of one tenant, and webhooks that another deletes while their events are recovered. */
const RECOVERIES = 10;
const CYCLES = 20;
const CHANGES = 25;
const CHANGES_PER_SECOND = 5;
/** The most milliseconds after a change, ten times what is promised: the machine may be busy. */
const PUBLISHED = 20_000;
const RECEIVED = 50_000;
const MOST_OF_AN_ACCOUNT = 10;
/** Recoveries that are asked for at the same time. */
const AT_ONCE = 5;
/** Of this part of a day, each deleted webhook had its events recovered. */
const RECOVERED_PART = 0.01;

const SETTINGS = { WEBHOOK_ALLOW: '127.0.0.0/8' };

/** Events of a day, and before them those that are to be purged. */
const STORE_HISTORY = `
  INSERT INTO events (position, id, account_id, type, created_at, data)
  SELECT n, gen_random_uuid(), 0, 'pet.added',
    now() - CASE WHEN n <= ${EXPIRED} THEN interval '31 days' ELSE (${HISTORY} - n) * interval '1 day' / ${RECENT} END,
    json_build_object('id', n, 'name', 'Luna', 'categoryId', 1, 'status', 'available')
  FROM generate_series(1, ${HISTORY}) AS n;
  UPDATE event_feed SET last_position = ${HISTORY};
  ANALYZE events`;

/** Milliseconds for which the oldest stored event has waited to be published. */
const OLDEST = `
  SELECT coalesce(extract(epoch FROM now() - min(created_at)) * 1000, 0)::float8 AS age FROM event_outbox`;

class Receiver {
  readonly events = new Set<string>();
  /** The most milliseconds from a change to its first delivery. */
  slowest = 0;

  readonly receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { timestamp } = (await json(request)) as { readonly timestamp: string };
    const id = String(request.headers['webhook-id']);
    if (!this.events.has(id)) this.slowest = Math.max(this.slowest, Date.now() - Date.parse(timestamp));
    this.events.add(id);
    response.writeHead(204).end();
  };
}

describe('webhooks of many tenants', () => {
  const receivers = Array.from({ length: HONEST }, () => new Receiver());
  /** Takes what the other tenants recover. */
  const sink = new Receiver();
  let server: Server;
  let replicas: Replicas;
  let worker: Running;
  let origin: string;
  /** The key of the tenant that recovers, and of the one that deletes its webhooks. */
  let recovering: string;
  let deleting: string;
  let sent = 0;

  const sql = <Row extends Record<string, unknown>>(text: string) => ask<Row>(replicas.databaseUrl, text);

  /** A request that is repeated while the machine is too busy for it. */
  async function request(method: string, path: string, key: string, body?: object): Promise<string> {
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

  async function createWebhook(key: string, path: string): Promise<string> {
    return (JSON.parse(await request('POST', '', key, { url: origin + path })) as { readonly id: string }).id;
  }

  const recover = (id: string, key: string, since: number) =>
    request('POST', `/${id}/recover`, key, { since: new Date(since).toISOString() });

  beforeAll(async () => {
    // On a busy machine, publishing may wait long.
    expectDatabaseErrors('55P03');
    replicas = await startReplicas(SETTINGS);
    await sql(STORE_HISTORY);
    server = createServer((request, response) => {
      void (receivers[Number(request.url?.slice(1))] ?? sink).receive(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    let key = '';
    for (let receiver = 0; receiver < HONEST; receiver += 1) {
      if (receiver % MOST_OF_AN_ACCOUNT === 0) key = await replicas.issueKey(`honest-${receiver}@example.com`);
      await createWebhook(key, String(receiver));
    }
    const settings = { ...SETTINGS, DATABASE_URL: replicas.databaseUrl, LOG_LEVEL: 'error' };
    worker = new Running(WORKER, [], { ...settings, WORKER_PORT: '0', WORKER_HOST: '127.0.0.1' });
    await worker.prints(/The worker is ready/);
    recovering = await replicas.issueKey('recovering@example.com');
    deleting = await replicas.issueKey('deleting@example.com');
  });
  afterAll(async () => {
    await worker.stop('SIGKILL');
    server.close();
    server.closeAllConnections();
    await replicas.close();
  });

  /** Recovers little, by requests that may have to read a whole day for it. */
  async function recoverOften(): Promise<void> {
    const ids: string[] = [];
    while (ids.length < AT_ONCE) ids.push(await createWebhook(recovering, 'sink'));
    let begun = 0;
    const repeat = async (id: string) => {
      while ((begun += 1) <= RECOVERIES) await recover(id, recovering, Date.now());
    };
    await Promise.all(ids.map(repeat));
  }

  /** Has events recovered by webhooks that are deleted a little later. */
  async function deleteRecovering(): Promise<void> {
    const ids: string[] = [];
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      const id = await createWebhook(deleting, 'sink');
      await recover(id, deleting, Date.now() - RECOVERED_PART * 86_400_000);
      ids.push(id);
      if (ids.length === AT_ONCE) await request('DELETE', `/${ids.shift()}`, deleting);
    }
    for (const id of ids) await request('DELETE', `/${id}`, deleting);
  }

  async function add(): Promise<number> {
    const body = { name: `Luna ${(sent += 1)}`, categoryId: 1 };
    return (await replicas.send('POST', `${replicas.originOf(sent)}/v1/pets`, body)).status;
  }

  /** The most milliseconds for which an event has waited to be published, until `isOver`. */
  async function watchOutbox(isOver: () => boolean): Promise<number> {
    const client = await connectTo(replicas.databaseUrl);
    let longest = 0;
    const look = async () => {
      const [oldest] = (await client.query<{ age: number }>(OLDEST)).rows;
      longest = Math.max(longest, oldest?.age ?? 0);
      return isOver();
    };
    await until(look, { what: 'the end of the changes', within: Infinity }).finally(() => client.end());
    return longest;
  }

  /** Makes changes until the others are done, and all of it is published. */
  async function makeChanges(): Promise<void> {
    let isQuiet = false;
    const others = Promise.all([recoverOften(), deleteRecovering()]).finally(() => (isQuiet = true));
    const isOver = (begun: number) => isQuiet && begun >= CHANGES;
    const [statuses] = await Promise.all([atEvenPace(CHANGES_PER_SECOND, isOver, add), others]);
    // A refused one may have been stored all the same.
    expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([]);
    await until(async () => (await sql('SELECT FROM event_outbox LIMIT 1')).length === 0);
  }

  it('get each change soon, whatever others recover and delete, and while events are purged', async () => {
    let isOver = false;
    const changing = makeChanges().finally(() => (isOver = true));
    const [longest] = await Promise.all([watchOutbox(() => isOver), changing]);
    const events = (await sql(`SELECT FROM events WHERE position > ${HISTORY}`)).length;
    await until(() => receivers.every((receiver) => receiver.events.size === events));
    const slowest = Math.max(...receivers.map((receiver) => receiver.slowest));
    expect(longest).toBeLessThan(PUBLISHED);
    expect(slowest).toBeLessThan(RECEIVED);
    await until(async () => (await sql(`SELECT FROM events WHERE position <= ${EXPIRED} LIMIT 1`)).length === 0);
  });
});
