import { types } from 'node:util';
import nodemailer from 'nodemailer';

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

/** @param defaults the settings of every mail. */
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

/** Codes of errors while connecting. Their messages name neither a login nor a recipient, so they are safe to log. */
const OF_CONNECTING = ['ECONNECTION', 'EDNS', 'ESOCKET', 'ETLS'];

/** Why the mail server failed. Usually only the error's code, because its message may name a user or a recipient. */
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
