import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { API, createDatabase, KEYS, run, Running, type TestDatabase } from '@adoption-store/test-support';

const RACERS = 50;
/** Animals with a race. More take longer and prove more. */
const ROUNDS = Number(process.env['ORDER_ROUNDS'] ?? 100);

describe('two replicas on one PostgreSQL', () => {
  let database: TestDatabase;
  let replicas: Running[] = [];
  let origins: string[] = [];
  let key = '';
  const agent = new Agent({ keepAlive: true, maxSockets: RACERS });

  beforeAll(async () => {
    database = await createDatabase();
    const settings = { DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1', ORDER_LIMIT: String(ROUNDS) };
    replicas = [new Running(API, [], settings), new Running(API, [], settings)];
    origins = await Promise.all(replicas.map(async (each) => (await each.prints(/Address {2}(\S+)\/v1/))[1] ?? ''));
    const plan = ['--plan', 'enterprise', '--per-minute', '2000000000', '--per-day', '2000000000'];
    key = (await run(KEYS, ['create', '--email', 'racer@example.com', ...plan], settings)).stdout.trim();
  });

  afterAll(async () => {
    agent.destroy();
    await Promise.all(replicas.map((replica) => replica.stop()));
    await database.drop();
  });

  function post(origin = '', path: string, body: string): Promise<{ readonly status: number; readonly text: string }> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      request(`${origin}${path}`, { agent, method: 'POST', headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += String(chunk)));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text });
        });
      })
        .on('error', reject)
        .end(body);
    });
  }

  /** The number of clients that got the animal, and of those that didn't. */
  async function race(round: number): Promise<{ readonly won: number; readonly lost: number }> {
    const added = await post(origins[round % 2], '/v1/pets', '{"name":"Luna","categoryId":1}');
    const order = `{"petId":${/"id":(\d+)/.exec(added.text)?.[1]}}`;
    const racing = Array.from({ length: RACERS }, (_, racer) => post(origins[racer % 2], '/v1/store/orders', order));
    const statuses = (await Promise.all(racing)).map(({ status }) => status);
    const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
    return { won: count(201), lost: count(409) };
  }

  it(
    `have one winner for each animal of ${ROUNDS} that ${RACERS} race for`,
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        expect(await race(round)).toEqual({ won: 1, lost: RACERS - 1 });
      }
      const client = new pg.Client(database.url);
      await client.connect();
      const { rows } = await client.query(
        `SELECT count(*)::int AS orders, count(DISTINCT animal_id)::int AS animals,
           (SELECT count(*)::int FROM animals WHERE status = 'pending') AS pending
         FROM orders WHERE status = 'placed'`,
      );
      await client.end();
      expect(rows).toEqual([{ orders: ROUNDS, animals: ROUNDS, pending: ROUNDS }]);
    },
    30_000 + ROUNDS * 200,
  );

  it('place exactly as many orders as an account may have', async () => {
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query(`UPDATE orders SET status = 'cancelled' WHERE status = 'placed'`);
    const { rows: pets } = await client.query<{ id: string }>(
      `INSERT INTO animals (name, category_id, status)
       SELECT 'Luna', 1, 'available' FROM generate_series(1, ${ROUNDS + 50}) RETURNING id`,
    );
    const orders = pets.map(({ id }, racer) => post(origins[racer % 2], '/v1/store/orders', `{"petId":${id}}`));
    const statuses = (await Promise.all(orders)).map(({ status }) => status);
    const { rows } = await client.query(`SELECT count(*)::int AS placed FROM orders WHERE status = 'placed'`);
    await client.end();
    expect(rows).toEqual([{ placed: ROUNDS }]);
    expect(statuses.filter((status) => status === 201)).toHaveLength(ROUNDS);
    expect(statuses.filter((status) => status === 409)).toHaveLength(50);
  });
});
