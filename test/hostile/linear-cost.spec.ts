import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createDatabase, KEYS, run, type Running, type TestDatabase } from '@adoption-store/test-support';
import { startService } from '../support/faults.js';

const SMALL = 8 * 1024;
const LARGE = 64 * 1024;
/** The large bodies have 8 times the bytes: a linear cost is 8, a quadratic one 64. */
const MOST = 12;
const ROUNDS = 7;
const REQUESTS_A_ROUND = 6;

const HEAD = '{"categoryId":1,"x":';

/** An animal without a name: it is parsed completely and then refused, so the cost has no database part. */
const filled = (begin: string, unit: (index: number) => string, end: string) => (size: number) => {
  const units: string[] = [];
  let length = HEAD.length + begin.length + end.length + 1;
  for (let index = 0; length + unit(index).length <= size; index += 1) {
    units.push(unit(index));
    length += unit(index).length;
  }
  return `${HEAD}${begin}${units.join('')}${end}}`;
};
const nested = (open: string, close: string) => `${open.repeat(13)}1${close.repeat(13)},`;

const SHAPES: readonly (readonly [string, (size: number) => string])[] = [
  ['many properties', filled('{', (index) => `"k${index}":1,`, '"z":1}')],
  ['properties that begin alike', filled('{', (index) => `"${'a'.repeat(20)}${index}":1,`, '"z":1}')],
  ['properties that are indices', filled('{', (index) => `"${4_294_967_290 - index * 7}":1,`, '"z":1}')],
  ['properties that end alike', filled('{', (index) => `"${index}${'\\u0061'.repeat(3)}":1,`, '"z":1}')],
  ['one long name', filled('{"', () => 'k', '":1}')],
  ['arrays as deep as may be', filled('[', () => nested('[', ']'), '1]')],
  ['objects as deep as may be', filled('[', () => nested('{"a":', '}'), '1]')],
  ['empty arrays', filled('[', () => '[],', '1]')],
  ['escapes in one string', filled('"', () => '\\u0041', '"')],
  ['escaped quotes', filled('"', () => '\\"', '"')],
  ['strings with an escape each', filled('[', () => '"\\n",', '1]')],
  ['pairs of surrogates, escaped', filled('"', () => '\\ud83d\\udc08', '"')],
  ['integers', filled('[', () => '9223372036854775807,', '1]')],
  ['fractions', filled('[', () => '1.5e-300,', '1]')],
  ['one long number', filled('', () => '9', '')],
  ['one long fraction', filled('0.', () => '7', '')],
  ['white space', filled('[', () => ' \t\r\n', '1]')],
  ['an animal’s name', (size) => `{"categoryId":1,"name":"${'\\u0301'.repeat(Math.floor((size - 30) / 6))}"}`],
];

let database: TestDatabase;
let service: Running;
let origin: string;
let metrics: string;
let authorization: string;

beforeAll(async () => {
  database = await createDatabase();
  const settings = { DATABASE_URL: database.url };
  ({ service, origin } = await startService(settings));
  [, metrics = ''] = await service.prints(/Metrics {2}(\S+)/);
  const plan = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '1000000'];
  const created = await run(KEYS, ['create', '--email', 'hostile@example.com', ...plan], settings);
  authorization = `Bearer ${created.stdout.trim()}`;
});

afterAll(async () => {
  await service.stop();
  await database.drop();
});

/** CPU seconds of the API. Other processes on the machine don't affect it. */
async function used(): Promise<number> {
  const page = await (await fetch(metrics)).text();
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(page)?.[1]);
}

async function costOf(body: string): Promise<number> {
  const before = await used();
  for (let sent = 0; sent < REQUESTS_A_ROUND; sent += 1) {
    const headers = { authorization, 'content-type': 'application/json' };
    const response = await fetch(`${origin}/v1/pets`, { method: 'POST', headers, body });
    expect(await response.json()).toMatchObject({ code: 'invalid_parameter' });
  }
  return (await used()) - before;
}

it.each(SHAPES)('the API’s work on a body grows no faster than its bytes: %s', async (_name, shape) => {
  const [small, large] = [shape(SMALL), shape(LARGE)];
  expect(large.length).toBeGreaterThan(7.9 * small.length);
  expect(large.length).toBeLessThanOrEqual(LARGE);
  await costOf(large);
  const costs: (readonly [number, number])[] = [];
  for (let round = 0; round < ROUNDS; round += 1) costs.push([await costOf(small), await costOf(large)]);
  const [least, most] = [Math.min(...costs.map(([cost]) => cost)), Math.min(...costs.map(([, cost]) => cost))];
  expect(least).toBeGreaterThan(0);
  expect(most / least).toBeLessThanOrEqual(MOST);
});
