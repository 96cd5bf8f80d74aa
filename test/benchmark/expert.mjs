/**
 * A service written by hand for the catalogue only: bare Fastify and pg, prepared statements, keys and counters in
 * memory, response schemas, and only the rules of the catalogue. Numbers are doubles. Its tables are in expert.sql.
 */
import { createHash } from 'node:crypto';
import Fastify from 'fastify';
import pg from 'pg';

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

const pet = {
  type: 'object',
  required: ['id', 'name', 'categoryId', 'status'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    categoryId: { type: 'integer' },
    status: { type: 'string' },
  },
};
const status = { type: 'string', enum: ['available', 'pending', 'sold'] };
const COLUMNS = 'id, name, category_id AS "categoryId", status';

const queries = {
  list: (after, limit) => ({
    name: 'list',
    text: `SELECT ${COLUMNS} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`,
    values: [after, limit],
  }),
  listByStatus: (wanted, after, limit) => ({
    name: 'list-by-status',
    text: `SELECT ${COLUMNS} FROM pets WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3`,
    values: [wanted, after, limit],
  }),
  byId: (id) => ({ name: 'by-id', text: `SELECT ${COLUMNS} FROM pets WHERE id = $1`, values: [id] }),
  add: ({ name, categoryId, status: given }) => ({
    name: 'add',
    text: 'INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING id',
    values: [name, categoryId, given ?? 'available'],
  }),
};

const PLAN = `SELECT per_minute AS "perMinute", per_day AS "perDay" FROM api_keys WHERE key_hash = $1`;
const keys = new Map();
const counts = new Map();

async function callerOf(authorization) {
  if (!authorization?.startsWith('Bearer ')) return undefined;
  const token = authorization.slice(7);
  const known = keys.get(token);
  if (known && known.until > Date.now()) return known;
  const hash = createHash('sha256').update(token).digest();
  const { rows } = await pool.query({ name: 'key', text: PLAN, values: [hash] });
  if (rows.length === 0) return undefined;
  const caller = { ...rows[0], token, until: Date.now() + 1_000 };
  keys.set(token, caller);
  return caller;
}

/** Counts the request. Returns the window with the fewest requests left, and whether there was room. */
function count({ token, perMinute, perDay }) {
  const now = Date.now();
  const minute = Math.floor(now / 60_000);
  const day = Math.floor(now / 86_400_000);
  let usage = counts.get(token);
  if (!usage) counts.set(token, (usage = { minute, day, minuteUsed: 0, dayUsed: 0 }));
  if (usage.minute !== minute) Object.assign(usage, { minute, minuteUsed: 0 });
  if (usage.day !== day) Object.assign(usage, { day, dayUsed: 0 });
  const isAdmitted = usage.minuteUsed < perMinute && usage.dayUsed < perDay;
  if (isAdmitted) {
    usage.minuteUsed += 1;
    usage.dayUsed += 1;
  }
  const isMinute = perMinute - usage.minuteUsed <= perDay - usage.dayUsed;
  return isMinute
    ? { isAdmitted, limit: perMinute, remaining: perMinute - usage.minuteUsed, reset: (minute + 1) * 60 }
    : { isAdmitted, limit: perDay, remaining: perDay - usage.dayUsed, reset: (day + 1) * 86_400 };
}

const app = Fastify({ logger: false });
const refuse = (reply, code, message, number) => reply.code(number).send({ code, message, status: number });

app.setErrorHandler((error, _request, reply) => {
  const number = error.statusCode ?? 500;
  refuse(reply, number === 400 ? 'invalid_parameter' : 'error', error.message, number);
});

app.addHook('onRequest', async (request, reply) => {
  const caller = await callerOf(request.headers.authorization);
  if (!caller) return refuse(reply, 'invalid_api_key', 'the API key is missing or invalid', 401);
  const { isAdmitted, limit, remaining, reset } = count(caller);
  reply.header('x-ratelimit-limit', limit);
  reply.header('x-ratelimit-remaining', remaining);
  reply.header('x-ratelimit-reset', reset);
  if (isAdmitted) return undefined;
  reply.header('retry-after', Math.max(1, reset - Math.floor(Date.now() / 1_000)));
  return refuse(reply, 'rate_limited', 'too many requests', 429);
});

app.get(
  '/v1/pets',
  {
    schema: {
      querystring: {
        type: 'object',
        properties: {
          limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
          status,
          after: { type: 'integer', default: 0 },
        },
      },
      response: { 200: { type: 'array', items: pet } },
    },
  },
  async ({ query, protocol, host }, reply) => {
    const more = query.limit + 1;
    const { rows } = await pool.query(
      query.status ? queries.listByStatus(query.status, query.after, more) : queries.list(query.after, more),
    );
    if (rows.length <= query.limit) return rows;
    const page = rows.slice(0, query.limit);
    const filter = query.status ? `&status=${query.status}` : '';
    const next = `${protocol}://${host}/v1/pets?limit=${query.limit}${filter}&after=${page.at(-1).id}`;
    reply.header('link', `<${next}>; rel="next"`);
    return page;
  },
);

app.get(
  '/v1/pets/:petId',
  { schema: { params: { type: 'object', properties: { petId: { type: 'integer' } } }, response: { 200: pet } } },
  async ({ params }, reply) => {
    const { rows } = await pool.query(queries.byId(params.petId));
    return rows[0] ?? refuse(reply, 'not_found', 'there is no such animal', 404);
  },
);

app.post(
  '/v1/pets',
  {
    schema: {
      body: {
        type: 'object',
        required: ['name', 'categoryId'],
        properties: { name: { type: 'string', minLength: 1, maxLength: 255 }, categoryId: { type: 'integer' }, status },
      },
      response: { 201: pet },
    },
  },
  async ({ body, protocol, host }, reply) => {
    const { rows } = await pool.query(queries.add(body));
    const [{ id }] = rows;
    reply.code(201).header('location', `${protocol}://${host}/v1/pets/${id}`);
    return { id, name: body.name, categoryId: body.categoryId, status: body.status ?? 'available' };
  },
);

await app.listen({ port: 0, host: '127.0.0.1' });
console.log(`Address  http://127.0.0.1:${app.server.address().port}/v1`);
process.on('SIGTERM', () => process.exit(0));
