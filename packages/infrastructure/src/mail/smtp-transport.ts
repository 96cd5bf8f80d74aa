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
