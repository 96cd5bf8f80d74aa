import { types } from 'node:util';
import nodemailer from 'nodemailer';

/** Milliseconds for each step of connecting; what follows is bounded by the timeout of each mail. */
const CONNECTION_TIMEOUT = 5_000;

/** Connections to a mail server, and what all mails have in common. */
export function openSmtpTransport(
  { url, connections }: { readonly url: string; readonly connections: number },
  defaults: { readonly from: string; readonly to?: string },
) {
  return nodemailer.createTransport(
    {
      pool: true,
      url,
      maxConnections: connections,
      maxMessages: Infinity,
      dnsTimeout: CONNECTION_TIMEOUT,
      connectionTimeout: CONNECTION_TIMEOUT,
      greetingTimeout: CONNECTION_TIMEOUT,
      // Longer than a connection is kept idle, four minutes, for the next message not to wait for a new one.
      socketTimeout: 300_000,
      // A connection that is given up takes with it what has not gone out yet.
      socketCloseTimeout: 0,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    defaults,
  );
}

/** Before anybody has logged in or named a recipient. */
const OF_CONNECTING = ['ECONNECTION', 'EDNS', 'ESOCKET', 'ETLS'];

/** Why the mail server failed, mostly by the error's code alone: its message may name a user or a recipient. */
export function mailFailure(error: unknown): string {
  if (!types.isNativeError(error)) return 'unknown';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  if (OF_CONNECTING.includes(code)) return `${code}: ${error.message}`;
  return 'responseCode' in error && typeof error.responseCode === 'number' ? `${code} ${error.responseCode}` : code;
}
