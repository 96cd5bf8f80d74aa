import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type Replicas, startReplicas } from '../support/replicas.js';

const RACERS = 50;
/** Animals with a race. More take longer and prove more. */
const ROUNDS = Number(process.env['ORDER_ROUNDS'] ?? 50);

describe('two replicas on one PostgreSQL', () => {
  let replicas: Replicas;
  beforeAll(async () => {
    replicas = await startReplicas({ ORDER_LIMIT: String(ROUNDS) }, RACERS);
  });
  afterAll(() => replicas.close());

  const post = (turn: number, path: string, body: string) =>
    replicas.client.send('POST', `${replicas.originOf(turn)}${path}`, { body });

  /** The number of clients that got the animal, and of those that didn't. */
  async function race(round: number): Promise<{ readonly won: number; readonly lost: number }> {
    const added = await post(round, '/v1/pets', '{"name":"Luna","categoryId":1}');
    const order = `{"petId":${/"id":(\d+)/.exec(added.text)?.[1]}}`;
    const racing = Array.from({ length: RACERS }, (_, racer) => post(racer, '/v1/store/orders', order));
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
      const sql = new pg.Client(replicas.databaseUrl);
      await sql.connect();
      const { rows } = await sql.query(
        `SELECT count(*)::int AS orders, count(DISTINCT animal_id)::int AS animals,
           (SELECT count(*)::int FROM animals WHERE status = 'pending') AS pending
         FROM orders WHERE status = 'placed'`,
      );
      await sql.end();
      expect(rows).toEqual([{ orders: ROUNDS, animals: ROUNDS, pending: ROUNDS }]);
    },
    30_000 + ROUNDS * 200,
  );

  it('place exactly as many orders as an account may have', async () => {
    const sql = new pg.Client(replicas.databaseUrl);
    await sql.connect();
    await sql.query(`UPDATE orders SET status = 'cancelled' WHERE status = 'placed'`);
    const { rows: pets } = await sql.query<{ id: string }>(
      `INSERT INTO animals (name, category_id, status)
       SELECT 'Luna', 1, 'available' FROM generate_series(1, ${ROUNDS + 50}) RETURNING id`,
    );
    const orders = pets.map(({ id }, racer) => post(racer, '/v1/store/orders', `{"petId":${id}}`));
    const statuses = (await Promise.all(orders)).map(({ status }) => status);
    const { rows } = await sql.query(`SELECT count(*)::int AS placed FROM orders WHERE status = 'placed'`);
    await sql.end();
    expect(rows).toEqual([{ placed: ROUNDS }]);
    expect(statuses.filter((status) => status === 201)).toHaveLength(ROUNDS);
    expect(statuses.filter((status) => status === 409)).toHaveLength(50);
  });
});
