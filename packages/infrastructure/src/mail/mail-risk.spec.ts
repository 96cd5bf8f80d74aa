import { describe, expect, it } from '@jest/globals';
import { mailRisk } from './mail-risk.js';

describe('the connection to the mail server', () => {
  it.each([
    'smtps://u:p@mail.example.com:465',
    'smtp://mail.example.com:587?requireTLS=true',
    'smtp://localhost:25',
    'smtp://127.0.0.1',
    'smtp://[::1]:25',
  ])('%s has no risk to report', (url) => {
    expect(mailRisk(url)).toBeUndefined();
  });

  it.each([
    ['smtp://u:hunter2@mail.example.com', 'encrypted only if the server offers it'],
    ['smtp://u:hunter2@mail.example.com?ignoreTLS=true', 'not encrypted'],
    ['smtps://u:hunter2@mail.example.com?tls.rejectUnauthorized=false', 'certificate is not verified'],
    ['smtp://u:hunter2@localhost.example.com', 'encrypted only if the server offers it'],
  ])('%s is reported as a risk, without its password', (url, what) => {
    expect(mailRisk(url)).toContain(what);
    expect(mailRisk(url)).not.toContain('hunter2');
  });
});
