import { types } from 'node:util';
import { escapeInvisible } from '@adoption-store/domain';

/** Characters of a server's answer that are read, and that are shown. */
const [MOST_READ, MOST_SHOWN] = [1_000, 200];

/** A server's answer: its code, and its enhanced code (RFC 3463) if it has one. */
const ANSWER = /^(?<code>\d{3})(?:[ -](?<enhanced>[245]\.\d{1,3}\.\d{1,3})(?!\S))?/;
/** An address with a quoted local part, or any text around an @, which it may have in another form than ours. */
const ADDRESS = /"[^"]*"@\S+|\S*(?:@|%40)\S*/gi;

/** Codes without another enhanced code by which a server refuses a mailbox (RFC 5321 §4.2.3). */
const NO_MAILBOX = [550, 551, 553];
/** Enhanced codes about the recipient's address. 5.1.7 and 5.1.8 are about the sender's. */
const NO_ADDRESS = /^5\.1\.(?![78]$)/;

/**
 * Why the mail server failed, to be logged: nodemailer's code, the server's code and enhanced code, and its words. Every
 * address in them is replaced, and so is what is given of the recipient. Words about a login are left out, because they
 * may name the user.
 */
export function mailFailure(error: unknown, recipient?: string): string {
  if (!types.isNativeError(error)) return 'unknown';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const response = responseOf(error);
  const { code: answered, enhanced } = ANSWER.exec(response)?.groups ?? {};
  const codes = [code, answered, enhanced].filter((each) => each !== undefined).join(' ');
  if (['EAUTH', 'ENOAUTH', 'EOAUTH2', 'EABORT'].includes(code)) return codes;
  const words = response === '' ? error.message : response.replaceAll(/^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3}\s)?/gm, '');
  const shown = shownWords(words, recipient);
  return shown === '' ? codes : `${codes}: ${shown}`;
}

function shownWords(words: string, recipient: string | undefined): string {
  // The last word may be a part of an address.
  const read = words.length > MOST_READ ? words.slice(0, MOST_READ).replace(/\S*$/, '') : words;
  const named = wordsOf(recipient).reduce(
    (text, word) => text.replaceAll(word, '<address>'),
    read.replaceAll(ADDRESS, '<address>'),
  );
  const shown = [...escapeInvisible(named.replaceAll(/\s+/g, ' ').trim())];
  return shown.length > MOST_SHOWN ? `${shown.slice(0, MOST_SHOWN).join('')}…` : shown.join('');
}

/** The local part of the recipient, which a server may name alone, as a word. */
function wordsOf(recipient: string | undefined): readonly RegExp[] {
  const [local = ''] = recipient?.split('@') ?? [];
  const text = local.replaceAll(/[\^$.*+?()[\]{}|\\]/g, '\\$&');
  return local === '' ? [] : [new RegExp(`(?<![\\p{L}\\p{N}])${text}(?![\\p{L}\\p{N}])`, 'giu')];
}

/** Whether the mail server says that there is no such mailbox. Other refusals may be its own fault, so a retry helps. */
export function isRejectedRecipient(error: unknown): boolean {
  if (!types.isNativeError(error) || !('command' in error) || error.command !== 'RCPT TO') return false;
  const { code, enhanced } = ANSWER.exec(responseOf(error))?.groups ?? {};
  if (code?.startsWith('5') !== true) return false;
  return enhanced === undefined ? NO_MAILBOX.includes(Number(code)) : NO_ADDRESS.test(enhanced);
}

function responseOf(error: Error): string {
  return 'response' in error && typeof error.response === 'string' ? error.response : '';
}
