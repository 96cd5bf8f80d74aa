import {
  type AccountId,
  type AccountMail,
  type ClaimedMessage,
  instant,
  type MessageId,
  MINUTE,
  PermanentFailure,
  SECOND,
} from '@adoption-store/domain';
import { accountMailSenderSuite, messageSenderSuite } from '@adoption-store/domain/testing';
import { type ReceivedMail, SmtpSink, type Trouble } from '@adoption-store/test-support';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SmtpAccountMailSender } from '../src/accounts/smtp-account-mail-sender.js';
import { mailRisk } from '../src/deliveries/mail-risk.js';
import { SmtpMessageSender } from '../src/messages/smtp-message-sender.js';
import { framework } from './framework.js';
import { leavesNothing } from './open-resources.js';

describe('the mailer of messages', () => {
  const CREATED = instant(Date.UTC(2026, 0, 1, 12, 0, 0));
  const TIMEOUT = 5 * SECOND;
  /** Characters that an address may contain and that a header would interpret. */
  const STRANGE = ['<', '>', '"', ',', ';', ':', '\\', '(', ')', '[', ']', '=', '?', 'é', '🐈'];

  messageSenderSuite(framework, 'SMTP', async () => {
    const store = await SmtpSink.open();
    const suiteSender = new SmtpMessageSender({
      smtpUrl: store.url,
      from: 'no-reply@shop.example',
      to: 'a@example.com',
    });
    return {
      sender: suiteSender,
      received: () =>
        store.received.map((mail) => ({
          id: mail.header('X-Message-Id') ?? '',
          from: mail.header('Reply-To') ?? '',
          text: mail.body,
        })),
      refuseMessages: (areRefused) => {
        if (areRefused) store.trouble = { at: 'data', by: 554 };
        else store.resume();
      },
      async close() {
        suiteSender.close();
        await store.close();
      },
    };
  });

  let sink: SmtpSink;
  let sender: SmtpMessageSender;
  let made = 0;

  beforeEach(async () => {
    sink = await SmtpSink.open();
    sender = newSender();
  });
  afterEach(async () => {
    sender.close();
    await sink.close();
  });

  /** Restarts the mail server without SMTPUTF8. */
  async function withoutUtf8(): Promise<void> {
    sender.close();
    await sink.close();
    sink = await SmtpSink.open({ utf8: false });
    sender = newSender();
  }

  function newSender(from = 'no-reply@shop.example', smtpUrl = sink.url): SmtpMessageSender {
    return new SmtpMessageSender({ smtpUrl, from, to: 'store@example.com', connections: 4 });
  }

  const message = (changes: Partial<ClaimedMessage> = {}): ClaimedMessage => ({
    id: `msg_${String((made += 1)).padStart(24, '0')}` as MessageId,
    accountId: 1n as AccountId,
    text: 'Hello',
    createdAt: CREATED,
    number: 1,
    failures: 0,
    from: 'dev@example.com',
    isProven: true,
    ...changes,
  });

  /** Sends a message and returns the received mail. */
  async function deliver(changes: Partial<ClaimedMessage> = {}): Promise<ReceivedMail> {
    await sender.send(message(changes), TIMEOUT);
    const mail = sink.received.at(-1);
    if (!mail) throw new Error('no mail was received');
    return mail;
  }

  describe('a message sent by SMTP', () => {
    it('names its account, its time and its id', async () => {
      const { id } = message();
      const mail = await deliver({ id });
      expect(mail).toMatchObject({ from: 'no-reply@shop.example', to: ['store@example.com'], body: 'Hello' });
      expect(Object.fromEntries(mail.headers)).toEqual({
        from: 'no-reply@shop.example',
        to: 'store@example.com',
        'reply-to': 'dev@example.com',
        subject: 'Message from dev@example.com',
        date: 'Thu, 01 Jan 2026 12:00:00 +0000',
        'message-id': `<${id}@shop.example>`,
        'x-message-id': id,
        'mime-version': '1.0',
        'content-type': 'text/plain; charset=utf-8',
        'content-transfer-encoding': 'base64',
      });
    });

    it('of an unproven address says so in its subject and its body, and has no address to answer to', async () => {
      const mail = await deliver({ isProven: false, text: 'Please call me' });
      expect(mail.header('Reply-To')).toBeUndefined();
      expect(mail.header('Subject')).toBe('Message from the unproven address dev@example.com');
      expect(mail.body).toMatch(/^The address of this account is unproven: [^\n]+\r?\n\r?\nPlease call me$/);
    });

    it('shows in its subject what is invisible in an address from before such were refused', async () => {
      const mail = await deliver({ from: 'de\u200bv@example.com' });
      expect(mail.header('Subject')).toBe(String.raw`Message from de\u{200B}v@example.com`);
    });

    it('goes only to the store, and no address or text can add headers', async () => {
      const { headers } = await deliver();
      const names = headers.map(([name]) => name).sort();
      const strange = fc
        .tuple(
          fc.string({ unit: fc.constantFrom(...STRANGE, 'a', '.'), minLength: 1, maxLength: 20 }),
          fc.string({ unit: fc.constantFrom(...STRANGE, 'b'), minLength: 1, maxLength: 20 }),
        )
        .map(([local, domain]) => `${local}@${domain}.example`);
      const hostile = fc.constantFrom('a@b.example\r\nBcc: evil@example.com', 'a@b.example\n\nbody', 'a\r@b.example');
      await fc.assert(
        fc.asyncProperty(fc.oneof(strange, hostile), fc.string({ unit: 'binary' }), async (from, text) => {
          const mail = await deliver({ from, text: `\r\nBcc: evil@example.com\r\n\r\n${text}` });
          expect(mail.to).toEqual(['store@example.com']);
          const expected = names.filter((name) => name !== 'reply-to' || /^[\0-\x7f]*$/.test(from));
          expect(mail.headers.map(([name]) => name).sort()).toEqual(expected);
          expect(mail.header('To')).toBe('store@example.com');
          expect(mail.header('Reply-To') ?? '<a@b>').toMatch(
            /^<("([^"\\]|\\.)*"|[^\s",<>]+)@[^<>]*>$|^[^\s",;:<>()]+@[^\s",;:<>()]+$/,
          );
        }),
        { numRuns: 30 },
      );
    });

    it('of an address beyond ASCII names it in the body, so that a server without SMTPUTF8 takes the mail', async () => {
      await withoutUtf8();
      const mail = await deliver({ from: 'zo\u00eb@example.com', text: 'Please write' });
      expect(mail.raw).toMatch(/^[\0-\x7f]*$/);
      expect(mail.header('Reply-To')).toBeUndefined();
      expect(mail.body).toMatch(/^To reply, write to zo\u00eb@example\.com\. [^\n]+\r?\n\r?\nPlease write$/);
    });

    it('uses the domain of the sender’s address for its id and its greeting, also where that has a name', async () => {
      sender.close();
      sender = newSender('"Shop, the @ one" <no-reply@mail.shop.example>');
      const mail = await deliver();
      expect(mail.header('Message-ID')).toBe(`<${mail.header('X-Message-Id')}@mail.shop.example>`);
      expect([...sink.names]).toEqual(['mail.shop.example']);
    });
  });

  it('the URL’s credentials are used to log in', async () => {
    sender.close();
    sender = newSender(undefined, sink.url.replace('//', '//shop:p%40ss%3A%2F@'));
    await deliver();
    await deliver();
    expect(sink.logins).toEqual([['shop', 'p@ss:/']]);
  });

  describe('a message that can’t be delivered', () => {
    it('is reported if the connection is cut before an answer, and the next one is sent', async () => {
      sink.trouble = { at: 'data', by: 'cutting' };
      await expect(sender.send(message(), TIMEOUT)).rejects.toThrow(/closed|ECONNRESET/);
      sink.resume();
      await deliver({ text: 'next' });
      expect(sink.received.map(({ body }) => body)).toEqual(['next']);
    });

    it('is reported without the login and without an address, whatever the server says', async () => {
      sink.trouble = { at: 'recipient', by: 550, words: '5.1.1 <store@example.com>: no such user' };
      const refused = sender.send(message(), TIMEOUT);
      await expect(refused).rejects.toThrow(/^EENVELOPE 550 5\.1\.1: <address> no such user$/);
      await expect(refused).rejects.not.toHaveProperty('cause');
    });

    it.each(['recipient', 'data'] as const)(
      'is given up in time if the server hangs at the %s, with its connection',
      async (at) => {
        sink.trouble = { at, by: 'hanging' };
        await expect(sender.send(message(), 100)).rejects.toThrow('no answer within 100 ms');
        sink.resume();
        const next = await deliver({ text: 'next' });
        expect(sink.connections).toBe(2);
        // A server that already has the complete mail can't be prevented from delivering it.
        if (at !== 'data') expect(sink.received).toEqual([next]);
      },
    );

    it('is given up in time even while it waits for a connection, and is not sent later', async () => {
      sink.trouble = { at: 'recipient', by: 'hanging' };
      const sent = await Promise.allSettled(Array.from({ length: 20 }, () => sender.send(message(), 100)));
      expect(new Set(sent.map(({ status }) => status))).toEqual(new Set(['rejected']));
      sink.resume();
      await deliver({ text: 'next' });
      expect(sink.received.map(({ body }) => body)).toEqual(['next']);
    });
  });

  describe('many messages at once', () => {
    it('use at most the allowed connections, which are kept', async () => {
      await Promise.all(Array.from({ length: 40 }, () => sender.send(message(), TIMEOUT)));
      expect(sink.mostAtOnce).toBe(4);
      expect(sink.connections).toBe(4);
    });

    it('leave no timer behind, however long they might have taken', async () => {
      await leavesNothing(() => sender.send(message(), 10 * MINUTE));
    });
  });
});

describe('the mailer of accounts', () => {
  const PORTAL = 'https://portal.example.com';
  const newMailer = (smtpUrl: string, contact?: string) =>
    new SmtpAccountMailSender({ smtpUrl, from: 'no-reply@shop.example', portalUrl: PORTAL, contact });
  const PAGES = { 'reset-password': 'reset', 'confirm-new-address': 'change', 'finish-sign-up': 'sign-up' } as const;
  const kindOf = (body: string) =>
    Object.entries(PAGES).find(([page]) => body.includes(`\n${PORTAL}/${page}#`))?.[1] ?? 'changed';

  const TIMEOUT = 5 * SECOND;

  accountMailSenderSuite(framework, 'SMTP', async () => {
    const store = await SmtpSink.open();
    const suiteSender = newMailer(store.url);
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
    sender = newMailer(sink.url);
  });
  afterEach(async () => {
    sender.close();
    await sink.close();
  });

  const token = 'x'.repeat(43);
  const reset = (): AccountMail => ({
    createdAt: instant(Date.UTC(2026, 0, 1, 12)),
    kind: 'reset',
    email: 'dev@example.com',
    token,
    expiresAt: instant(Date.UTC(2026, 0, 1, 13)),
  });
  const signUp = (): AccountMail => ({ ...reset(), kind: 'sign-up' });
  const withoutLink = (kind: AccountMail['kind']): AccountMail => ({ ...reset(), kind, token: undefined });
  const changed = withoutLink('changed');
  const mailed = async (mail: AccountMail) => {
    await sender.send(mail, TIMEOUT);
    return sink.received.at(-1);
  };

  it.each([
    ['resets a password', reset(), 'reset-password', 'password'],
    ['opens an account', signUp(), 'finish-sign-up', 'after a day you hear no more.'],
  ])('mails the link that %s, until when it works, and what else to know', async (_what, each, page, hint) => {
    const mail = await mailed(each);
    expect(mail?.from).toBe('no-reply@shop.example');
    expect(mail?.body).toContain(`\nhttps://portal.example.com/${page}#${token}\n`);
    for (const part of ['1 January 2026 at 13:00 UTC', hint]) expect(mail?.body).toContain(part);
  });

  it('mails that there is an account, with the address of the page that signs in', async () => {
    const mail = await mailed(withoutLink('has-account'));
    expect(mail?.body).toContain(`\n${PORTAL}/sign-in\n`);
    expect(mail?.body).toContain('after a day you hear no more.');
  });

  it('mails the notice that an address was changed, which has no link, and names the operator’s contact if it is known', async () => {
    const mail = await mailed(changed);
    expect(mail?.body).toContain('e-mail address of your account at the Animal Adoption Store was changed');
    expect(mail?.body).not.toMatch(/#|http/);
    expect(mail?.body).toContain('Contact the operator of the service at once.');
    sender.close();
    sender = newMailer(sink.url, 'help@shop.example');
    expect((await mailed(changed))?.body).toContain('Contact help@shop.example at once.');
  });

  it.each([
    ['password', undefined, 'changed on'],
    ['recovered', undefined, 'reset on'],
    ['key', '“laptop”, which ends in wxyz', 'made on'],
    ['rotated', '“laptop”, which ends in wxyz', 'rotated on'],
    ['closed', undefined, 'closed on'],
    ['more', '7', 'until'],
  ] as const)(
    'mails the notice %s, with what happened, when, and what to do, and without a link',
    async (kind, about, what) => {
      sender.close();
      sender = newMailer(sink.url, 'help@shop.example');
      const mail = await mailed({ ...reset(), kind, token: undefined, about });
      expect(mail?.body).toContain(`${what} 1 January 2026 at 12:00 UTC`);
      for (const part of [about ?? '', 'If it was not you', 'help@shop.example']) expect(mail?.body).toContain(part);
      expect(mail?.body).not.toMatch(/#|http/);
    },
  );

  it('sends nothing to a server with an untrusted certificate, and says why', async () => {
    const stranger = await SmtpSink.open({ tls: true });
    const mailer = newMailer(stranger.url);
    const reason = await mailer.send(reset(), TIMEOUT).catch(String);
    expect(reason).toMatch(/^Error: \w+: .*certificate/);
    expect(reason).not.toContain('dev@example.com');
    expect(stranger.offered).toBe(0);
    mailer.close();
    await stranger.close();
  });

  describe('a mail that is refused', () => {
    const refusal = async (trouble: Trouble, mail = reset()) => {
      sink.trouble = trouble;
      const error: unknown = await sender.send(mail, TIMEOUT).catch((reason: unknown) => reason);
      const everything = JSON.stringify(error, Object.getOwnPropertyNames(error));
      for (const secret of [mail.email, token]) expect(everything).not.toContain(secret);
      return { reason: (error as Error).message, isForGood: error instanceof PermanentFailure };
    };

    it.each([
      [550, 'unknown', true],
      [551, 'moved', true],
      [553, 'no such name', true],
      [550, '5.1.1 unknown', true],
      [556, '5.1.10 no mail for this domain', true],
      [504, 'Helo command rejected: need fully-qualified hostname', false],
      [504, '5.5.2 Helo command rejected', false],
      [554, '5.7.1 Client host rejected', false],
      [550, '5.7.1 relaying denied', false],
      [553, '5.1.8 Sender address rejected', false],
      [552, '5.2.2 mailbox full', false],
      [550, '4.1.1 try again', false],
      [452, '4.2.2 mailbox full', false],
      [450, '5.1.1 greylisted', false],
    ])('at its recipient by %d %s: for good is %s', async (by, words, isForGood) => {
      const refused = await refusal({ at: 'recipient', by, words });
      expect(refused.isForGood).toBe(isForGood);
      expect(refused.reason).toContain(`EENVELOPE ${by}`);
    });

    it('after its recipient was taken is tried again', async () => {
      const refused = await refusal({ at: 'data', by: 550, words: '5.1.1 unknown' });
      expect(refused).toEqual({ reason: 'EMESSAGE 550 5.1.1: unknown', isForGood: false });
    });

    it.each([
      [
        'without its recipient',
        '<dev@example.com>: Recipient address rejected',
        '<address> Recipient address rejected',
      ],
      ['without a name', 'User "DEV" unknown; dev=example.com@b.example', 'User "<address>" unknown; <address>'],
      ['without another', '"John Doe"@b.example has moved to dev%40c.example', '<address> has moved to <address>'],
      ['without a name in a sentence', 'no mailbox for user=dev.', 'no mailbox for user=<address>.'],
      ['escaped', 'no\u202e', String.raw`no\u{202E}`],
      ['cut', 'y'.repeat(900), `${'y'.repeat(200)}…`],
      ['cut before an address', `${'y '.repeat(50_000)}a@b.example`, `${'y '.repeat(100)}…`],
    ])('is logged in the server’s words, %s', async (_how, words, shown) => {
      const { reason } = await refusal({ at: 'recipient', by: 550, words: `5.1.1 ${words}` });
      expect(reason).toBe(`EENVELOPE 550 5.1.1: ${shown}`);
    });

    it('at the login names no user', async () => {
      sender.close();
      sender = newMailer(sink.url.replace('//', '//shop:wrong@'));
      expect(await refusal({ at: 'login', by: 535, words: '5.7.8 user shop unknown' })).toEqual({
        reason: 'EAUTH 535 5.7.8',
        isForGood: false,
      });
    });
  });

  describe('an address beyond ASCII', () => {
    const ZOE: AccountMail = { ...reset(), email: 'zo\u00eb@example.com' };

    it('gets its mail from a server with SMTPUTF8', async () => {
      expect((await mailed(ZOE))?.to).toEqual([ZOE.email]);
    });

    it('gets none from a server without it: the mail fails for good and says why, and the next is sent', async () => {
      sender.close();
      await sink.close();
      sink = await SmtpSink.open({ utf8: false });
      sender = newMailer(sink.url.replace('//', '//u:p@'));
      const error: unknown = await sender.send(ZOE, TIMEOUT).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(PermanentFailure);
      expect(error).toMatchObject({ message: expect.stringContaining('no SMTPUTF8') });
      expect(sink.offered).toBe(0);
      expect(sink.logins).toEqual([]);
      expect((await mailed(reset()))?.to).toEqual(['dev@example.com']);
    });

    it('waits where the server can’t be reached', async () => {
      await sink.close();
      const error: unknown = await sender.send(ZOE, TIMEOUT).catch((reason: unknown) => reason);
      expect(error).not.toBeInstanceOf(PermanentFailure);
      expect(error).toMatchObject({ message: expect.stringMatching(/^ESOCKET: connect ECONNREFUSED/) });
    });
  });
});

it.each([
  ['smtps://u:hunter2@mail.example.com:465', undefined],
  ['smtp://mail.example.com:587?requireTLS=true', undefined],
  ['smtp://[::1]:25', undefined],
  ['smtp://u:hunter2@mail.example.com', 'encrypted only if the server offers it'],
  ['smtp://u:hunter2@mail.example.com?ignoreTLS=true', 'not encrypted'],
  ['smtps://u:hunter2@mail.example.com?tls.rejectUnauthorized=false', 'certificate is not verified'],
  ['smtp://u:hunter2@localhost.example.com', 'encrypted only if the server offers it'],
])('a connection to the mail server %s has this risk to report, without its password: %s', (url, what) => {
  const risk = mailRisk(url);
  expect(risk).toEqual(what === undefined ? undefined : expect.stringContaining(what));
  expect(risk).not.toEqual(expect.stringContaining('hunter2'));
});
