import { describe } from '@jest/globals';
import type { AdoptionStore } from '../../src/index.js';
import { type Case, play, unexpected } from './cases.js';
import { type Exchange, json, type Step } from './hostile-server.js';

const luna = { id: 1, name: 'Luna', categoryId: 2, status: 'available' };
const milo = { id: 2, name: 'Milo', categoryId: 2, status: 'available' };

/** A page whose Link header is this text, in which HERE and FOREIGN stand for the servers' origins. */
const linked =
  (link: string | readonly string[], page: unknown = [luna]): Step =>
  (response, exchange) => {
    const header = [link].flat().map((each) => filled(each, exchange));
    return json(200, page, { Link: header })(response, exchange);
  };

function filled(text: string, { origin, foreign }: Exchange): string {
  const [host, foreignHost] = [origin, foreign].map((each) => new URL(each).host);
  return text
    .replaceAll('HERE', origin)
    .replaceAll('FOREIGN', foreign)
    .replaceAll('THIS_HOST', host ?? '')
    .replaceAll('OTHER_HOST', foreignHost ?? '');
}

async function names(store: AdoptionStore): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of store.pets()) found.push(name);
  return found;
}

const NEXT = '<HERE/v1/pets?cursor=2>';

/** Headers with a next page at `/v1/pets?cursor=2`. */
const FOLLOWED: readonly (string | readonly string[])[] = [
  `${NEXT}; rel="next"`,
  `${NEXT}; rel=next`,
  `${NEXT};rel=next`,
  `${NEXT} ; rel = "next"`,
  `${NEXT}; rel = next`,
  `${NEXT}; REL="next"`,
  `${NEXT}; rel="NEXT"`,
  `${NEXT}; rel="last next"`,
  `${NEXT}; rel="next last"`,
  `${NEXT}; title="a, b"; rel="next"`,
  `${NEXT}; title="<a>; rel=\\"prev\\""; rel="next"`,
  `${NEXT}; rel="next"; title="a, b"`,
  `<HERE/v1/pets?cursor=0>; rel="prev", ${NEXT}; rel="next"`,
  `${NEXT}; rel="next", <HERE/v1/pets?cursor=9>; rel="last"`,
  `<HERE/v1/pets?a=1,2>; rel="prev", ${NEXT}; rel="next"`,
  [`<HERE/v1/pets?cursor=0>; rel="prev"`, `${NEXT}; rel="next"`],
  '</v1/pets?cursor=2>; rel="next"',
  '<pets?cursor=2>; rel="next"',
  '<./pets?cursor=2>; rel="next"',
  '<?cursor=2>; rel="next"',
  '<//THIS_HOST/v1/pets?cursor=2>; rel="next"',
  '<HERE/v1/pets?cursor=2#here>; rel="next"',
  '<HERE/v1/other/../pets?cursor=2>; rel="next"',
];

/** Headers without a next page. */
const LAST: readonly string[] = [
  '',
  `${NEXT}; rel="prev"`,
  `${NEXT}; rel="nextish"`,
  `${NEXT}; rel="xnext"`,
  `${NEXT}; title="next"`,
  `${NEXT}; title="rel=next"`,
  `${NEXT}; title="a, <b>; rel=next"; rel="prev"`,
];

/** Addresses that are not those of the list. */
const ELSEWHERE: readonly string[] = [
  'FOREIGN/v1/pets?cursor=2',
  '//OTHER_HOST/v1/pets?cursor=2',
  '\\\\OTHER_HOST/v1/pets?cursor=2',
  '/\\OTHER_HOST/v1/pets?cursor=2',
  'https://THIS_HOST/v1/pets?cursor=2',
  'https:THIS_HOST/v1/pets',
  'HERE@OTHER_HOST/v1/pets?cursor=2',
  'http://user:password@THIS_HOST/v1/pets?cursor=2',
  'http://user@THIS_HOST/v1/pets?cursor=2',
  'http://THIS_HOST@OTHER_HOST/v1/pets',
  'http://localhost/v1/pets?cursor=2',
  'http://127.0.0.1/v1/pets?cursor=2',
  'http://127.0.0.1.example/v1/pets?cursor=2',
  'ftp://THIS_HOST/v1/pets',
  'file:///v1/pets',
  'javascript:alert(1)',
  'data:application/json,[]',
  'HERE/v1/orders?cursor=2',
  'HERE/v1/pets/?cursor=2',
  'HERE/v1/pets/1',
  'HERE/v2/pets?cursor=2',
  'HERE/pets?cursor=2',
  'HERE/v1/pets;a=b',
  'HERE/v1/Pets?cursor=2',
  'HERE/v1/%70ets?cursor=2',
  'HERE/v1/pets/../../admin?cursor=2',
  'HERE/v1//pets?cursor=2',
  'HERE\\@OTHER_HOST/v1/pets',
  'http://',
  'http://[/v1/pets',
];

const twoPages = (link: string | readonly string[]): readonly Step[] => [linked(link), json(200, [milo])];

describe('a Link with a next page', () => {
  play(
    FOLLOWED.map((link): Case => ({
      server: [link].flat().join(' and '),
      steps: twoPages(link),
      call: names,
      ends: { value: ['Luna', 'Milo'] },
      requests: 2,
      waits: [0],
    })),
  );
});

describe('a Link without one', () => {
  play(
    LAST.map((link): Case => ({
      server: link,
      steps: twoPages(link),
      call: names,
      ends: { value: ['Luna'] },
      requests: 1,
    })),
  );
});

describe('a Link to elsewhere', () => {
  play(
    ELSEWHERE.map((address): Case => ({
      server: `<${address}>; rel="next"`,
      steps: twoPages(`<${address}>; rel="next"`),
      call: names,
      ends: unexpected(200),
      requests: 1,
    })),
  );
});

describe('a Link that is broken', () => {
  play(
    [
      '<HERE/v1/pets?cursor=2; rel="next"',
      'HERE/v1/pets?cursor=2; rel="next"',
      '<>; rel="next"',
      'next',
      '; rel=next',
      `,, ${NEXT}; rel="next"`,
    ].map((link): Case => ({ server: link, steps: twoPages(link), call: names, ends: unexpected(200), requests: 1 })),
  );
});

describe('a walk in a circle', () => {
  const page = (cursor: string) => linked(`<HERE/v1/pets?cursor=${cursor}>; rel="next"`);
  play([
    {
      server: 'the next page is the first again',
      steps: [linked('<?limit=100>; rel="next"')],
      call: names,
      ends: unexpected(200),
      requests: 1,
    },
    {
      server: 'the next page is itself',
      steps: [page('a')],
      call: names,
      ends: unexpected(200),
      requests: 2,
      waits: [0],
    },
    {
      server: 'the fourth page is itself',
      steps: [page('2'), page('3'), page('4')],
      call: names,
      ends: unexpected(200),
      requests: 4,
      waits: [0, 0, 0],
    },
    {
      server: 'two pages in turn',
      steps: [page('a'), page('b'), page('a'), page('b')],
      call: names,
      ends: unexpected(200),
      requests: 4,
      waits: [0, 0, 0],
    },
    {
      server: 'three pages in turn',
      steps: ['a', 'b', 'c', 'a', 'b', 'c', 'a'].map(page),
      call: names,
      ends: unexpected(200),
      requests: 7,
      waits: [0, 0, 0, 0, 0, 0],
    },
    {
      server: 'the next page is itself, with another fragment',
      steps: [linked('<?cursor=a#1>; rel="next"'), linked('<?cursor=a#2>; rel="next"')],
      call: names,
      ends: unexpected(200),
      requests: 2,
      waits: [0],
    },
  ]);
});
