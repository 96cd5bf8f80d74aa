const LOCAL = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * What the operator should know of the way to the mail server; undefined where mails are encrypted and its certificate
 * is verified, or where they don't leave this machine.
 */
export function mailRisk(smtpUrl: string): string | undefined {
  const { protocol, hostname, searchParams } = new URL(smtpUrl);
  const is = (name: string, value: string) => searchParams.get(name) === value;
  if (LOCAL.test(hostname)) return undefined;
  const mails = `SMTP_URL: mails to ${hostname}`;
  if (is('tls.rejectUnauthorized', 'false')) {
    return `${mails} may go to another server, as its certificate is not verified (tls.rejectUnauthorized=false).`;
  }
  if (is('ignoreTLS', 'true')) return `${mails} are not encrypted (ignoreTLS=true).`;
  if (protocol === 'smtps:' || is('secure', 'true') || is('requireTLS', 'true')) return undefined;
  return `${mails} are encrypted only where it offers that: use smtps://, or add ?requireTLS=true.`;
}
