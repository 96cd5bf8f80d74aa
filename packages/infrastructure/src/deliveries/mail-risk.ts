const LOCAL = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * A warning for the operator about the connection to the mail server. Undefined if it is encrypted and its certificate
 * is verified, or if the server is on this machine.
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
  return `${mails} are encrypted only if the server offers it: use smtps://, or add ?requireTLS=true.`;
}
