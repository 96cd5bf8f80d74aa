import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type AccountMail, instant, LINK_KINDS, RefusedForGood, SECOND } from '@adoption-store/domain';
import { accountMailSenderSuite } from '@adoption-store/domain/testing';
import { SmtpSink, until } from '@adoption-store/test-support';
import { SmtpAccountMailSender } from '../src/accounts/smtp-account-mail-sender.js';
import { framework } from './framework.js';

const kindOf = (body: string) => LINK_KINDS.find((kind) => body.includes(`.example.com/${kind}#`)) ?? 'changed';

const TIMEOUT = 5 * SECOND;

accountMailSenderSuite(framework, 'SMTP', async () => {
  const store = await SmtpSink.open();
  const suiteSender = new SmtpAccountMailSender({ smtpUrl: store.url, from: 'no-reply@shop.example' });
  return {
    sender: suiteSender,
    received: () =>
      store.received.map(({ to, body }) => ({
        email: to.join(),
        kind: kindOf(body),
        token: /portal\.example\.com\/\S+#(\S+)/.exec(body)?.[1],
      })),
    refuseMails: (areRefused) => {
      if (areRefused) store.trouble = { at: 'recipient', by: 550 };
      else store.resume();
    },
    async close() {
      suiteSender.close();
      await store.close();
    },
  };
});

let sink: SmtpSink;
let sender: SmtpAccountMailSender;

beforeEach(async () => {
  sink = await SmtpSink.open();
  sender = new SmtpAccountMailSender({ smtpUrl: sink.url, from: 'no-reply@shop.example' });
});
afterEach(async () => {
  sender.close();
  await sink.close();
});

const token = 'x'.repeat(43);
const reset = (email = 'dev@example.com'): AccountMail => ({
  kind: 'reset',
  email,
  page: 'https://portal.example.com/reset-password',
  token,
  expiresAt: instant(Date.UTC(2026, 0, 1, 13)),
});
const proof = (): AccountMail => ({ ...reset(), kind: 'proof', page: 'https://portal.example.com/confirm-address' });

it.each(['dev@example.com', 'a,b;c@example.com'])('mails the link to %s alone, and until when', async (email) => {
  await sender.send(reset(email), TIMEOUT);
  const [mail] = sink.received;
  expect(mail?.to).toHaveLength(1);
  expect(mail?.from).toBe('no-reply@shop.example');
  expect(mail?.body).toContain(`\nhttps://portal.example.com/reset-password#${token}\n`);
  expect(mail?.body).toContain('1 January 2026 at 13:00 UTC');
});

it('mails the link that proves an address, and what to do for an owner who has opened no account', async () => {
  await sender.send(proof(), TIMEOUT);
  const [mail] = sink.received;
  expect(mail?.to).toEqual(['dev@example.com']);
  expect(mail?.body).toContain(`\nhttps://portal.example.com/confirm-address#${token}\n`);
  expect(mail?.body).toContain('1 January 2026 at 13:00 UTC');
  expect(mail?.body).toContain('If it was not you, do not confirm it.');
});

it('mails the notice that an address was changed, which has no link', async () => {
  await sender.send({ ...reset(), kind: 'changed', page: '', token: undefined }, TIMEOUT);
  const [mail] = sink.received;
  expect(mail?.to).toEqual(['dev@example.com']);
  expect(mail?.body).toContain('e-mail address of your account at the Animal Adoption Store was changed');
  expect(mail?.body).not.toMatch(/#|http/);
  expect(mail?.body).toContain('Contact the operator of the service at once.');
});

it('names the operator’s contact, if it is known', async () => {
  const named = new SmtpAccountMailSender({
    smtpUrl: sink.url,
    from: 'no-reply@shop.example',
    contact: 'help@shop.example',
  });
  await named.send({ ...reset(), kind: 'changed', page: '', token: undefined }, TIMEOUT);
  named.close();
  expect(sink.received[0]?.body).toContain('Contact help@shop.example at once.');
});

it.each([
  ['for good where its address is refused so', 'recipient', 550, 'EENVELOPE 550', true],
  ['for now where its address is refused for now', 'recipient', 450, 'EENVELOPE 450', false],
  ['for now where the mail is refused', 'data', 554, 'EMESSAGE 554', false],
] as const)('fails %s, and says neither to whom it was nor the token', async (_how, at, by, message, isForGood) => {
  sink.trouble = { at, by };
  const error = await sender.send(reset(), TIMEOUT).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ message });
  expect(error instanceof RefusedForGood).toBe(isForGood);
  const everything = JSON.stringify(error, Object.getOwnPropertyNames(error));
  for (const secret of ['dev@example.com', token]) expect(everything).not.toContain(secret);
});

it('fails within its time where the mail server says nothing', async () => {
  sink.trouble = { at: 'data', by: 'hanging' };
  await expect(sender.send(reset(), 200)).rejects.toThrow('no answer within 200 ms');
});

it('fails where it is closed meanwhile', async () => {
  sink.trouble = { at: 'data', by: 'hanging' };
  const sending = sender.send(reset(), TIMEOUT);
  const failed = expect(sending).rejects.toThrow();
  await until(() => sink.offered === 1);
  sender.close();
  await failed;
});
