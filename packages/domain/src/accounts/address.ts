import type { DomainToAscii } from '../kernel/domain-names.js';
import { invalid } from '../kernel/errors.js';
import { hasInvisible } from '../kernel/text.js';

// RFC 5321 §4.5.3.1.3 bounds a path to 256 octets, angle brackets included.
const MAX_LENGTH = 254;
/** An address that any account may have, also one that is older than the rules below. */
const ADDRESS = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]+[.\u3002\uff0e\uff61][^\s@\p{Cc}]+$/u;
/** RFC 5322 §3.2.3 allows these only in a quoted local part. UTF-8 can't encode a lone surrogate. */
const SPECIALS = /["()<>[\],;:\\\p{Cs}]/u;
/** Only a name may reach `DomainToAscii`: Node.js would parse the rest of a text as the port or the path of a URL. */
const NAME = /^[\w.\u0080-\u{10ffff}-]+$/u;
/** A last label of digits would make it an IP address. */
const HOST = /^([\w-]+\.)*(?!\d+$)[\w-]+$/;
/** A mailbox in brackets, in quotes, or with a dot at its end. Addresses older than the rules may have these. */
const DRESSED = /^<?("?)([^"<>@]+)\1@([^"<>@]+?)\.?>?$/;

/** A mailbox, or the rule that its text breaks. */
type Reading = { readonly address: string } | { readonly rule: string };

/**
 * The canonical form of an address, in which it is stored, compared, counted and mailed: in lower case, with its local
 * part in NFC and its domain in ASCII.
 */
function read(text: string, toAscii: DomainToAscii): Reading {
  const [typed = '', domain = '', ...rest] = text.toLowerCase().split('@');
  if (typed === '' || rest.length > 0) return { rule: 'must be an e-mail address, such as dev@example.com' };
  const local = typed.normalize('NFC');
  if (hasInvisible(local) || SPECIALS.test(local))
    return { rule: 'must have no invisible character, and none of "()<>[],;:\\, before the @' };
  const host = NAME.test(domain) ? toAscii(domain) : '';
  const address = `${local}@${host}`;
  if (!HOST.test(host) || address.length > MAX_LENGTH)
    return { rule: 'must have a domain name after the @, such as example.com, without a dot at its end' };
  return { address };
}

/**
 * The address of a new account.
 *
 * @throws DomainError `invalid_parameter`
 */
export function emailAddress(text: string, toAscii: DomainToAscii): string {
  const reading = read(typedAddress(text), toAscii);
  if ('rule' in reading) throw invalid('email', reading.rule);
  return reading.address;
}

/** The canonical form of an address whose domain may have one label: `store@localhost`. Undefined if it is invalid. */
export function mailboxAddress(text: string, toAscii: DomainToAscii): string | undefined {
  const reading = read(text, toAscii);
  return 'rule' in reading ? undefined : reading.address;
}

/**
 * The canonical form of any address, also of one that is older than the rules. An address that they refuse has no other
 * form than itself in lower case.
 */
export function canonicalAddress(text: string, toAscii: DomainToAscii): string {
  return mailboxAddress(text.replace(DRESSED, '$2@$3'), toAscii) ?? text.toLowerCase();
}

/** A typed address in lower case, by which an account is looked up. Undefined if no account can have it. */
export function readTypedAddress(text: string): string | undefined {
  return text.length <= MAX_LENGTH && ADDRESS.test(text) ? text.toLowerCase() : undefined;
}

/** As `readTypedAddress`. @throws DomainError `invalid_parameter` if no account can have it. */
export function typedAddress(text: string): string {
  const typed = readTypedAddress(text);
  if (typed === undefined) throw invalid('email', 'must be an e-mail address, such as dev@example.com');
  return typed;
}
