import { types } from 'node:util';
import nodemailer from 'nodemailer';

export interface SmtpDelivery {
  readonly smtpUrl: string;
  /** The sender, as `Name <address>` or only the address. */
  readonly from: string;
  /** The store's address. */
  readonly to: string;
  /** Where people reach the operator, for mails to accounts. */
  readonly contact?: string | undefined;
  /** Most connections. Each sends one message at a time. */
  readonly connections?: number | undefined;
}

/** Timeout of each step of connecting, in milliseconds. Later steps are bounded by the timeout of each mail. */
const CONNECTION_TIMEOUT = 5_000;

/** Connections to a mail server, and the settings of every mail. */
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
      // Longer than the four minutes for which an idle connection is kept, so that the next message doesn't wait for a
      // new one.
      socketTimeout: 300_000,
      // Without a delay: a closed connection also drops the bytes it has not sent.
      socketCloseTimeout: 0,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    defaults,
  );
}

/** Errors before a login or a recipient, so their messages are safe to log. */
const OF_CONNECTING = ['ECONNECTION', 'EDNS', 'ESOCKET', 'ETLS'];

/**
 * The reason for a failure of the mail server, usually only the error's code: its message may contain a user or a
 * recipient.
 */
export function mailFailure(error: unknown): string {
  if (!types.isNativeError(error)) return 'unknown';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  if (OF_CONNECTING.includes(code)) return `${code}: ${error.message}`;
  return 'responseCode' in error && typeof error.responseCode === 'number' ? `${code} ${error.responseCode}` : code;
}

/** Whether the mail server refuses that recipient for good (RFC 5321 §4.2.1). */
export function isRefusedRecipient(error: unknown): boolean {
  if (!types.isNativeError(error) || !('command' in error) || !('responseCode' in error)) return false;
  const { command, responseCode: code } = error;
  return command === 'RCPT TO' && typeof code === 'number' && code >= 500 && code < 600;
}
