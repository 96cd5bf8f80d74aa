import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { API, createDatabase, DatabaseGate, KEYS, run, Running, type TestDatabase } from '@adoption-store/test-support';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});

afterAll(() => database.drop());

it('the log has no Authorization header, key, body or query, whatever is sent and whatever fails', async () => {
  const { stdout } = await run(KEYS, ['create', '--email', 'a@example.com'], { DATABASE_URL: database.url });
  const key = stdout.trim();
  const gate = await DatabaseGate.open(database.url);
  const settings = { DATABASE_URL: gate.url, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'trace' };
  const service = new Running(API, [], settings);
  const [, origin = ''] = await service.prints(/Address {2}(\S+)\/v1/);
  const statuses = async () => {
    const answers = [];
    for (const [query, body] of [
      ['', '{"name":"canary-1","categoryId":1}'],
      ['', '{"name":"canary-2",'],
      ['?canary-7', '{"name":"canary-3","categoryId":"x"}'],
    ] as const)
      for (const authorization of [`Bearer ${key}`, 'Bearer canary-4', 'canary-5']) {
        const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'canary-6' };
        answers.push(await fetch(`${origin}/v1/pets${query}`, { method: 'POST', headers, body }));
      }
    return new Set(answers.map(({ status }) => status));
  };
  expect(await statuses()).toEqual(new Set([201, 400, 401]));
  gate.shut();
  while (!(await statuses()).has(503));
  const { stdout: log } = await service.stop();
  expect(log).toContain('service_unavailable');
  expect(log + service.errors).not.toMatch(/canary|bearer/i);
  expect(log + service.stderr).not.toContain(key);
});
