import { createHash, randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { generateKeyText } from '@adoption-store/domain';
import { API, createDatabase, KEYS, run, Running, type TestDatabase } from '@adoption-store/test-support';
import pg from 'pg';

const cryptography = {
  randomBytes: (length: number) => randomBytes(length),
  sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
};
const KEY = /aas_[a-z]+_[0-9A-Za-z]{20,}/;

let database: TestDatabase;
let service: Running;
let origin: string;

beforeAll(async () => {
  database = await createDatabase();
  service = new Running(API, [], {
    DATABASE_URL: database.url,
    PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'debug',
    ADDRESS_LIMIT: '1000000',
  });
  origin = (await service.prints(/Address {2}(\S+)\/v1/))[1] ?? '';
});

afterAll(async () => {
  await service.stop();
  await database.drop();
});

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

function send(key: string, index: number): Promise<{ status: number; body: string }> {
  // Everywhere a careless client could put its key: the headers, the path, the query.
  const path = [`/v1/pets`, `/v1/pets/${key}`, `/v1/pets?limit=${key}`, `/v1/${key}`][index % 4];
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'x-request-id': key, traceparent: key };
    request(`${origin}${path}`, { agent, headers }, (response) => {
      let body = '';
      response.on('data', (chunk) => (body += String(chunk)));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body });
      });
    })
      .on('error', reject)
      .end();
  });
}

async function everyRow(): Promise<string> {
  const client = new pg.Client(database.url);
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const dumps = [];
  for (const { name } of rows) dumps.push((await client.query(`SELECT * FROM ${name}`)).rows);
  await client.end();
  return JSON.stringify(dumps);
}

it('never shows any of 10,000 keys in its log, its errors or its database', async () => {
  const { stdout } = await run(KEYS, ['create', '--email', 'canary@example.com', '--plan', 'business'], {
    DATABASE_URL: database.url,
  });
  const valid = stdout.trim();
  expect(valid).toMatch(KEY);
  const keys = Array.from({ length: 10_000 }, (_, index) =>
    index % 21 === 0 ? valid : generateKeyText('live', cryptography),
  );
  const answers = await Promise.all(keys.map(send));
  const statuses = new Set(answers.map(({ status }) => status));
  expect(statuses).toEqual(new Set([200, 400, 401, 404]));
  expect(answers.filter(({ body }) => KEY.test(body))).toEqual([]);
  await service.stop();
  expect(service.stdout.split('"msg":"request"')).toHaveLength(keys.length + 1);
  expect(KEY.test(service.stdout + service.stderr)).toBe(false);
  expect(KEY.test(await everyRow())).toBe(false);
});
