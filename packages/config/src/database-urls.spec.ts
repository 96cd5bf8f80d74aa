import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { databaseUrls } from './database-urls.js';

const PRIMARY = 'target_session_attrs=read-write';

/** The host and the port of each URL. */
function serversOf(text: string): readonly string[] {
  return databaseUrls(text).map((each) => {
    const { searchParams } = new URL(each.replace('@/', '@host/'));
    return `${searchParams.get('host') ?? ''} ${searchParams.get('port') ?? ''}`;
  });
}

function faultOf(text: string): string {
  try {
    return databaseUrls(text).join(' ');
  } catch (error) {
    return (error as Error).message;
  }
}

describe('DATABASE_URL', () => {
  it.each([
    'postgres://a:b@c/d',
    'postgres://a:b%2C@c:1/d?sslmode=verify-full',
    'postgres://a:b,c@d/e',
    'postgresql:///d?host=/tmp&port=5433',
    'postgres://a@[::1]:5432/b?target_session_attrs=any',
    'postgres://a@b:0/c',
  ])('stays as it is with one host: %s', (text) => {
    expect(databaseUrls(text)).toEqual([text]);
  });

  it('has a URL for each host, which keeps everything else', () => {
    expect(databaseUrls(`postgres://u:p%40,w@a:5432,b/store?sslmode=verify-full&${PRIMARY}`)).toEqual([
      `postgres://u:p%40,w@/store?sslmode=verify-full&${PRIMARY}&host=a&port=5432`,
      `postgres://u:p%40,w@/store?sslmode=verify-full&${PRIMARY}&host=b&port=`,
    ]);
  });

  it.each([
    ['postgres://u@a:5432,b:5433,c/d?', ['a 5432', 'b 5433', 'c ']],
    ['postgres://u@[::1]:5432,[fe80::2],10.0.0.1:6/d?', ['::1 5432', 'fe80::2 ', '10.0.0.1 6']],
    ['postgres://a,b/d?', ['a ', 'b ']],
    ['postgres://u@a,b?', ['a ', 'b ']],
    ['postgres://u@a:1,b:2/d?port=5433&', ['a 5433', 'b 5433']],
    ['postgres://u@%2Frun%2Fa,%2Frun%2Fb:6/d?', ['/run/a ', '/run/b 6']],
    ['postgres:///d?host=/run/a,/run/b&port=1,2&', ['/run/a 1', '/run/b 2']],
    ['postgres://ignored:7/d?host=::1,b&port=6&', ['::1 6', 'b 6']],
    ['postgres://ignored:7/d?host=a,b&', ['a 7', 'b 7']],
    ['postgres://a/d?port=6,&host=a,b&', ['a 6', 'b ']],
  ])('is read as libpq reads it: %s', (text, expected) => {
    expect(serversOf(`${text}${PRIMARY}`)).toEqual(expected);
    expect(serversOf(`${text}target_session_attrs=primary`)).toEqual(expected);
  });

  it.each([
    ['postgres://u:secret@a,b/d', 'must have target_session_attrs=read-write or primary, because it has several hosts'],
    ['postgres://u:secret@a,b/d?target_session_attrs=any', 'must have target_session_attrs=read-write or primary'],
    ['postgres://u:secret@a,b/d?target_session_attrs=writable', 'must have target_session_attrs=read-write or primary'],
    [`postgres://u:secret@a,,b/d?${PRIMARY}`, 'must have no empty host in its list'],
    [`postgres://u:secret@a,:5432/d?${PRIMARY}`, 'must have no empty host in its list'],
    [`postgres://u:secret@a,[]/d?${PRIMARY}`, 'must have no empty host in its list'],
    [`postgres://u:secret@a:5432x,b/d?${PRIMARY}`, 'must have ports from 1 to 65535'],
    [`postgres://u:secret@a:0,b/d?${PRIMARY}`, 'must have ports from 1 to 65535'],
    [`postgres://u:secret@a,b:65536/d?${PRIMARY}`, 'must have ports from 1 to 65535'],
    [`postgres://u:secret@::1,b/d?${PRIMARY}`, 'must have its IPv6 addresses in brackets'],
    [`postgres://u:secret@[::1,b/d?${PRIMARY}`, 'must have its IPv6 addresses in brackets'],
    [`postgres://u:secret@a,b,c/d?port=1,2&${PRIMARY}`, 'must have one port, or one for each host'],
    [`postgres://u:secret@a:1,b:2/d?host=a,b,c&${PRIMARY}`, 'must have one port, or one for each host'],
    [`postgres://u:secret@/d?port=1,2&${PRIMARY}`, 'must have no empty host in its list'],
  ])('is refused with a sentence that names the fault, and no value: %s', (text, fault) => {
    expect(faultOf(text)).toContain(fault);
    expect(faultOf(text)).not.toMatch(/secret|writable|5432x/);
  });

  it('names every server of a list, in its order, whatever the list is', () => {
    const host = fc.oneof(
      fc.domain(),
      fc.ipV4(),
      fc.ipV6().map((address) => `[${address}]`),
    );
    const port = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(fc.tuple(host, port), { minLength: 2, maxLength: 8 }), (servers) => {
        const list = servers.map(([name, number]) => (number === undefined ? name : `${name}:${number}`));
        const expected = servers.map(([name, number]) => `${name.replace(/^\[(.*)\]$/, '$1')} ${number ?? ''}`);
        expect(serversOf(`postgres://u@${list.join(',')}/d?${PRIMARY}`)).toEqual(expected);
      }),
    );
  });
});
