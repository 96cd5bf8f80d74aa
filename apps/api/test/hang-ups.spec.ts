import { once } from 'node:events';
import { connect } from 'node:net';
import { ApiMetrics } from '../src/create-api.js';
import { until } from '@adoption-store/test-support';
import { expect, it } from '@jest/globals';
import pg from 'pg';
import { useApi } from './support/api.js';
import { get, rawHead } from './support/pets-client.js';

const metrics = new ApiMetrics(
  () => ({
    pool: { idle: 0, used: 0, size: 0, waiting: 0 },
    limitFallbacks: 0,
    droppedRefusals: 0,
    clockSkew: 0,
    dependencies: new Map(),
  }),
  () => Promise.resolve(new Map()),
);
const api = useApi({ metrics });
/** The number of list requests that were counted with this status. */
async function counted(status: number): Promise<number> {
  const { body: text } = await metrics.page();
  const line = new RegExp(`_count\\{[^}]*route="/v1/pets",status="${status}"[^}]*\\} (\\d+)`).exec(text);
  return Number(line?.[1] ?? 0);
}

it('a request whose client disconnected is counted once as 499, not as served, and in the usage of its key', async () => {
  const client = new pg.Client(api.databaseUrl);
  await client.connect();
  expect((await get(api, '/v1/pets')).status).toBe(200);
  const served = await counted(200);
  await client.query('BEGIN');
  await client.query('LOCK TABLE animals IN ACCESS EXCLUSIVE MODE');
  const socket = connect(api.port, api.host);
  await once(socket, 'connect');
  socket.write(rawHead(api, 'GET /v1/pets HTTP/1.1', []));
  await until(async () => {
    const { rows } = await client.query('SELECT 1 FROM pg_locks WHERE NOT granted');
    return rows.length > 0;
  });
  socket.resetAndDestroy();
  await until(async () => (await counted(499)) === 1);
  await client.query('COMMIT');
  expect((await get(api, '/v1/pets?limit=1')).status).toBe(200);
  expect([await counted(499), await counted(200)]).toEqual([1, served + 1]);
  await until(async () => {
    const { rows } = await client.query<{ sum: string }>('SELECT sum(admitted) FROM usage_by_day');
    return rows[0]?.sum === '3';
  });
  await client.end();
});
