import { canonicalAddress, emailAddress, mailboxAddress } from '../../accounts/address.js';
import type { DomainToAscii } from '../../kernel/domain-names.js';
import type { TestFramework } from './framework.js';

/** Spellings of one address. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  'dev@mail.example.com': [
    ...['dev@mail.example.com', 'DEV@Mail.EXAMPLE.com', 'dev@mail\u3002example.com', 'dev@mail\uff0eexample\uff61com'],
    ...Array.from({ length: 10 }, (_, index) => `dev@mail${'\u00ad'.repeat(index + 1)}.example.com`),
    'dev@\uff4dail.example.com',
  ],
  'zo\u00eb@xn--bcher-kva.example': [
    ...['ZO\u00cb@B\u00dcCHER.example', 'zoe\u0308@bu\u0308cher.example', 'Zo\u00eb@XN--BCHER-KVA.Example'],
    'zo\u00eb@b\u00fc\u00adcher\u3002example',
  ],
  "o'brien+a.b_c-d=e/f{g}@a_b.example": ["O'Brien+a.b_c-d=e/f{g}@A_B.example"],
  'k@a.b': ['\u212a@\uff21.b'],
};

/** Quotes, brackets and separators before the @. */
const SPECIAL = ['"dev"', 'd"ev', '<dev', 'dev,a', 'a;b', '(c)dev', 'dev[1]', 'd\\ev', 'a:b', 'dev\u037e'];
const INVISIBLE = ['d\u200bev', 'd\u00adev', 'dev\u3164', 'd\u202eev', 'd\u0085ev', 'd\u{e0041}ev', 'd\ud800ev'];
/** Texts after the @ that are no domain name: empty labels, IP addresses, parts of a URL. */
const NO_LABELS = ['b.example.', 'b.example\u3002', 'b..example', '.b.example', '\u00ad.example', 'b.\u00ad'];
const IP_ADDRESSES = ['127.0.0.1', '127.1', '0x7f.1', '\u2460\u2461\u2466.1', '[127.0.0.1]', '[IPv6:::1.2]'];
const URLS = ['b.example/c', 'b.example:25', 'b.example?c', 'b%2eexample.com', 'b.exa\\mple', 'b.example\uff0fc'];
const REFUSED = [
  ...[...SPECIAL, ...INVISIBLE].map((local) => `${local}@b.example`),
  ...[...NO_LABELS, ...IP_ADDRESSES, ...URLS, 'b.example>', '(c)b.example'].map((domain) => `dev@${domain}`),
];

/** The guarantees of every `DomainToAscii`: of one address however it is written, and of what is no address. */
export function domainToAsciiSuite(framework: TestFramework, name: string, toAscii: DomainToAscii): void {
  const { describe, it, expect } = framework;
  describe(`an e-mail address (${name})`, () => {
    it('has one form, however it is written, which is its own form', () => {
      for (const [address, spellings] of Object.entries(SPELLINGS))
        for (const text of [address, ...spellings]) {
          expect({ text, address: emailAddress(text, toAscii) }).toEqual({ text, address });
          expect({ text, address: canonicalAddress(text, toAscii) }).toEqual({ text, address });
        }
    });

    it('is refused in brackets or quotes, with what is invisible, and without a domain name', () => {
      for (const text of REFUSED) {
        expect(() => emailAddress(text, toAscii)).toThrow('email must');
        expect({ text, address: mailboxAddress(text, toAscii) }).toEqual({ text, address: undefined });
      }
    });

    it('of the time before is the same mailbox in brackets, in quotes and with a dot at its end', () => {
      for (const text of ['<dev@b.example>', '"dev"@b.example', 'dev@b.example.', '<"DEV"@b\u3002example.>'])
        expect(canonicalAddress(text, toAscii)).toBe('dev@b.example');
      for (const text of ['"d,ev"@b.example', 'd\u200bev@b.example', 'dev@127.0.0.1', 'closed-1@invalid'])
        expect(canonicalAddress(text, toAscii)).toBe(text);
    });

    it('of an operator may have a domain of one label', () => {
      expect(mailboxAddress('Store@LOCALHOST', toAscii)).toBe('store@localhost');
      for (const text of ['store', '@localhost', 'store@', 'a@b@c', 'a@b, c@d', 'A <a@b>', 'store@1'])
        expect(mailboxAddress(text, toAscii)).toBeUndefined();
    });
  });
}
