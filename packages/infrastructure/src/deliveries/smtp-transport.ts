import { domainToASCII } from 'node:url';
import nodemailer from 'nodemailer';
import { answerWithin } from '../kernel/answers.js';

export interface SmtpDelivery {
  readonly smtpUrl: string;
  /** The sender, as `Name <address>` or only the address. */
  readonly from: string;
  /** The store's address. */
  readonly to: string;
  /** The portal's address, to which links in mails to accounts lead. */
  readonly portalUrl: string;
  /** How account holders can reach the operator. It is shown in mails to accounts. */
  readonly contact?: string | undefined;
  /** Most connections. Each sends one message at a time. */
  readonly connections?: number | undefined;
}

/** Milliseconds for each step of connecting. The timeout of each mail limits the later steps. */
const CONNECTION_TIMEOUT = 5_000;

/** The domain of the sender's address. */
export function domainOf(from: string): string {
  const domain = /@([^\s@<>]+)>?\s*$/.exec(from)?.[1] ?? '';
  return domainToASCII(domain) || 'localhost';
}

/** @param defaults the settings of every mail. */
export function openSmtpTransport(
  { url, connections }: { readonly url: string; readonly connections: number },
  defaults: { readonly from: string; readonly to?: string },
) {
  return nodemailer.createTransport(
    {
      pool: true,
      url,
      // Servers refuse a name that isn't a domain's, such as nodemailer's own in a container, [127.0.0.1].
      name: domainOf(defaults.from),
      maxConnections: connections,
      maxMessages: Infinity,
      dnsTimeout: CONNECTION_TIMEOUT,
      connectionTimeout: CONNECTION_TIMEOUT,
      greetingTimeout: CONNECTION_TIMEOUT,
      // Longer than the four minutes for which nodemailer keeps an idle connection, so that the next mail can use it.
      socketTimeout: 300_000,
      // Closes at once, so that a mail that has timed out isn't sent after all.
      socketCloseTimeout: 0,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    defaults,
  );
}

/** Whether an address can be sent only to a server with SMTPUTF8 (RFC 6531). Domains are in ASCII. */
export function needsUtf8(address: string): boolean {
  return /[^\0-\x7f]/.test(address);
}

/**
 * Whether the mail server offers SMTPUTF8. nodemailer shows what a server offers only to a method of logging in, so this
 * connects once with a method that sends nothing.
 */
export async function offersUtf8(url: string, from: string, timeout: number): Promise<boolean> {
  const { href } = withoutLogin(url);
  let offered: readonly string[] = [];
  const server = nodemailer.createTransport({
    url: href,
    name: domainOf(from),
    dnsTimeout: timeout,
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    socketCloseTimeout: 0,
    forceAuth: true,
    auth: { type: 'custom', method: 'LOOK', user: '', pass: '' },
    customAuth: {
      LOOK(login) {
        offered = login.extensions;
        login.resolve();
      },
    },
  });
  try {
    await answerWithin(timeout, server.verify());
  } finally {
    server.close();
  }
  return offered.includes('SMTPUTF8');
}

function withoutLogin(url: string): URL {
  const server = new URL(url);
  server.username = '';
  server.password = '';
  return server;
}
