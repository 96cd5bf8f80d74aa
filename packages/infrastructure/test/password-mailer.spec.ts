import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { instant } from '@adoption-store/domain';
import { passwordMailerSuite } from '@adoption-store/domain/testing';
import { SmtpSink, until } from '@adoption-store/test-support';
import { SmtpPasswordMailer } from '../src/accounts/smtp-password-mailer.js';
import { framework } from './framework.js';

const EXPIRES = instant(Date.UTC(2026, 0, 1, 13));

function newMailer({ url }: SmtpSink, onEvent: (message: string) => void): SmtpPasswordMailer {
  const resetUrl = (token: string) => `https://portal.example.com/reset-password?token=${token}`;
  const proofUrl = (token: string) => `https://portal.example.com/confirm-address#${token}`;
  return new SmtpPasswordMailer({ smtpUrl: url, from: 'no-reply@shop.example', resetUrl, proofUrl }, onEvent);
}

passwordMailerSuite(framework, 'SMTP', async () => {
  const store = await SmtpSink.open();
  const suiteMailer = newMailer(store, () => undefined);
  return {
    mailer: suiteMailer,
    received: () =>
      store.received.map(({ to, body }) => ({
        email: to.join(),
        kind: body.includes('/reset-password?') ? 'reset' : 'proof',
        token: /portal\.example\.com\/\S+[=#](\S+)/.exec(body)?.[1] ?? '',
      })),
    loseMails: (areLost) => {
      if (areLost) store.trouble = { at: 'recipient', by: 550 };
      else store.resume();
    },
    async close() {
      await suiteMailer.close();
      await store.close();
    },
  };
});

let sink: SmtpSink;
let mailer: SmtpPasswordMailer;
let events: string[];

beforeEach(async () => {
  sink = await SmtpSink.open();
  events = [];
  mailer = newMailer(sink, (message) => {
    events.push(message);
  });
});
afterEach(async () => {
  await mailer.close();
  await sink.close();
});

const token = 'x'.repeat(43);

it.each(['dev@example.com', 'a,b;c@example.com'])('mails the link only to %s, with its expiry', async (email) => {
  mailer.send({ email, token, expiresAt: EXPIRES });
  await until(() => sink.received.length === 1);
  const [mail] = sink.received;
  expect(mail?.to).toHaveLength(1);
  expect(mail?.from).toBe('no-reply@shop.example');
  expect(mail?.body).toContain(`\nhttps://portal.example.com/reset-password?token=${token}\n`);
  expect(mail?.body).toContain('Thu, 01 Jan 2026 13:00:00 GMT');
  expect(events).toEqual([]);
});

it('mails the link that proves an address, with advice for an owner who opened no account', async () => {
  mailer.sendProof({ email: 'dev@example.com', token, expiresAt: EXPIRES });
  await until(() => sink.received.length === 1);
  const [mail] = sink.received;
  expect(mail?.to).toEqual(['dev@example.com']);
  expect(mail?.body).toContain(`\nhttps://portal.example.com/confirm-address#${token}\n`);
  expect(mail?.body).toContain('Thu, 01 Jan 2026 13:00:00 GMT');
  expect(mail?.body).toContain('If it was not you, do not confirm it.');
});

it('reports a failed mail to the operator, without recipient and token', async () => {
  sink.trouble = { at: 'recipient', by: 550 };
  mailer.send({ email: 'dev@example.com', token, expiresAt: EXPIRES });
  await until(() => events.length === 1);
  expect(events[0]).toBe('A mail that resets a password could not be sent (EENVELOPE 550).');
});

it('sends mails in progress when it is closed', async () => {
  mailer.send({ email: 'dev@example.com', token, expiresAt: EXPIRES });
  await mailer.close();
  expect(sink.received).toHaveLength(1);
});

it('closes within two seconds if the mail server doesn’t answer', async () => {
  sink.trouble = { at: 'data', by: 'hanging' };
  mailer.send({ email: 'dev@example.com', token, expiresAt: EXPIRES });
  await until(() => sink.offered === 1);
  const start = performance.now();
  await mailer.close();
  expect(performance.now() - start).toBeLessThan(2_000);
  expect(events).toHaveLength(1);
});
