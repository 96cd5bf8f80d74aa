import { describe } from '@jest/globals';
import { type Case, cats, CATS_VALUE, play } from './cases.js';
import { failure } from './hostile-server.js';

const DATE = 'Wed, 25 Nov 2026 12:00:00 GMT';

/** The header, and the least wait in milliseconds that it brings; undefined if it says nothing. */
const OBEYED: readonly [name: string, header: string | readonly string[], wait: number][] = [
  ['0', '0', 250],
  ['1', '1', 1_000],
  ['5', '5', 5_000],
  ['007', '007', 7_000],
  ['30', '30', 30_000],
  ['a date in 20 s', 'Wed, 25 Nov 2026 12:00:20 GMT', 20_000],
  ['a date in 20 s of RFC 850', 'Wednesday, 25-Nov-26 12:00:20 GMT', 20_000],
  ['a date in 20 s of asctime', 'Wed Nov 25 12:00:20 2026', 20_000],
  ['the same moment', DATE, 250],
  ['a past date', 'Wed, 25 Nov 2015 12:00:00 GMT', 250],
];

const IGNORED: readonly [name: string, header: string | readonly string[]][] = [
  ['none', []],
  ['-5', '-5'],
  ['-1000000000000', '-1000000000000'],
  ['1.5', '1.5'],
  ['0.0', '0.0'],
  ['1e3', '1e3'],
  ['+5', '+5'],
  ['0x10', '0x10'],
  ['NaN', 'NaN'],
  ['Infinity', 'Infinity'],
  ['soon', 'soon'],
  ['an empty one', ''],
  ['5 s', '5 s'],
  ['a list', '5, 10'],
  ['twice', ['5', '10']],
  ['an ISO date', '2026-11-25T12:00:20Z'],
  ['a Unix time with a fraction', '1795608020.5'],
  ['a date that is none', 'Wed, 99 Nov 2026 99:00:00 GMT'],
];

const TOO_LONG: readonly [name: string, header: string, retryAfter: number][] = [
  ['66', '66', 66],
  ['30 days', '2592000', 2_592_000],
  ['more than a timer can take', '2147484', 2_147_484],
  ['more than an integer', '9'.repeat(20), 1e20],
  ['a Unix time', '1795608020', 1_795_608_020],
  ['a date of next year', 'Thu, 25 Nov 2027 12:00:00 GMT', 31_536_000],
];

const limited = (status: number, header: string | readonly string[]) =>
  failure(status, status === 429 ? 'rate_limited' : 'service_unavailable', {
    Date: DATE,
    ...(header.length === 0 && typeof header !== 'string' ? {} : { 'Retry-After': header }),
  });

describe.each([429, 503])('Retry-After with %i', (status) => {
  const code = status === 429 ? 'rate_limited' : 'service_unavailable';
  const kind = status === 429 ? 'rate_limit' : 'server';
  const cases: Case[] = [
    ...OBEYED.map(([name, header, wait]) => ({
      server: `${status} Retry-After: ${name}; then 200`,
      steps: [limited(status, header), cats],
      ends: CATS_VALUE,
      requests: 2,
      waits: [wait],
    })),
    ...IGNORED.map(([name, header]) => ({
      server: `${status} Retry-After: ${name}; then 200`,
      steps: [limited(status, header), cats],
      ends: CATS_VALUE,
      requests: 2,
      waits: [250],
    })),
    ...TOO_LONG.map(([name, header, retryAfter]) => ({
      server: `${status} Retry-After: ${name}`,
      steps: [limited(status, header)],
      ends: { code, kind, status, retryAfter },
      requests: 1,
    })),
    {
      server: `${status} Retry-After: 0, for ever`,
      steps: [limited(status, '0')],
      ends: { code, kind, status, retryAfter: 0 },
      requests: 5,
      waits: [250, 500, 1000, 2000],
    },
    {
      server: `${status} Retry-After: 20, for ever; maxWait 60 s`,
      steps: [limited(status, '20')],
      options: { maxWait: 60_000 },
      ends: { code, kind, status, retryAfter: 20 },
      requests: 3,
      waits: [20_000, 20_000],
    },
    {
      server: `${status} Retry-After: 0, for ever; maxTries 1`,
      steps: [limited(status, '0')],
      options: { maxTries: 1 },
      ends: { code, kind, status },
      requests: 1,
    },
    {
      server: `${status} Retry-After: 1; maxWait 0`,
      steps: [limited(status, '1')],
      options: { maxWait: 0 },
      ends: { code, kind, status, retryAfter: 1 },
      requests: 1,
    },
  ];
  play(cases);
});
