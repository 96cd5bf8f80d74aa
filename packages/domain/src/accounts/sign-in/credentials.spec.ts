import { describe, expect, it } from '@jest/globals';
import { HOUR, type Instant, instant, later } from '../../kernel/clock.js';
import { anAccount } from '../../testing/builders.js';
import { decisions } from '../../testing/index.js';
import { type Account, type AccountId, closedEmail } from '../account.js';
import {
  type AccountMailId,
  type AccountMailKind,
  decideLinkMail,
  decideSignUpMail,
  decideToken,
  LINK_KINDS,
  type SignUpMailState,
} from '../mails/account-mail.js';
import { NOTICE_TTL } from '../mails/notice.js';
import {
  type Credentials,
  decideAddressChange,
  decideClosing,
  decidePasswordChange,
  decideEndingAccess,
  decideProvenSignUp,
  decideRehash,
  decideReset,
  decideSignUp,
  type MailedLink,
} from './credentials.js';
import { PLANS } from '../plan.js';

const [EMAIL, NEW] = ['dev@example.com', 'new@example.com'];

describe('decisions on credentials', () => {
  const NOW = instant(Date.UTC(2026, 0, 1));
  const [EARLIER, SOON] = [later(NOW, -HOUR), later(NOW, 1)];
  const account = anAccount({ id: 7n as AccountId, plan: PLANS.pro, scopes: ['pets:read'], credentialVersion: 3 });
  const proven = { ...account, provenAt: EARLIER };
  const operators = { ...account, credentialVersion: 0 };
  const of = (each: Account, passwordHash = 'hash'): Credentials => ({ account: each, passwordHash });
  const stored = of(account);
  const none = { account: operators, passwordHash: undefined };
  const next = { ...account, credentialVersion: 4 };
  const nextProven = { ...next, provenAt: EARLIER };
  const noticeId = 'mail_1' as AccountMailId;
  /** The mail that tells the owner. */
  const tells = (kind: AccountMailKind) => {
    const mail = { id: noticeId, accountId: account.id, kind, address: EMAIL };
    return { ...mail, createdAt: NOW, expiresAt: later(NOW, NOTICE_TTL) };
  };
  const right = { current: 'hash', next: 'next', noticeId };
  const wrong = { ...right, current: 'another' };
  const given = <State, Command, Outcome>(decide: (state: State, command: Command, now: Instant) => Outcome) =>
    decisions({ it, expect }, (state: State, command: Command) => decide(state, command, NOW));
  const nothing = 'nothing changes';

  describe('signing up', () => {
    const signUp = given(decideSignUp);
    const command = { email: EMAIL, scopes: ['pets:read'] as const, passwordHash: 'hash' };
    const { scopes, passwordHash } = command;
    const opened = { email: EMAIL, scopes, plan: PLANS.free, createdAt: NOW, credentialVersion: 1 };
    const unproven = { ...opened, provenAt: undefined };
    signUp('a free address', undefined)
      .when('it is given', command)
      .then('it opens an account', { account: unproven, passwordHash });
    signUp('an address with an account', operators).when('it is given', command).thenRefused('email_taken');

    const complete = given(decideProvenSignUp);
    const link = { email: EMAIL, expiresAt: SOON, holder: undefined };
    const chosen = { scopes, passwordHash };
    complete('a link to a free address', link)
      .when('it is followed', chosen)
      .then('it opens a proven account', { account: { ...opened, provenAt: NOW }, passwordHash });
    complete('a link to an address with an account', { ...link, holder: operators })
      .when('it is followed', chosen)
      .thenRefused('email_taken');
    complete('an expired link', { ...link, expiresAt: NOW, holder: operators })
      .when('it is followed', chosen)
      .then(nothing, undefined);
    complete('no link', undefined).when('it is followed', chosen).then(nothing, undefined);
  });

  describe('changing the password', () => {
    const change = given(decidePasswordChange);
    change('a proven address', of(proven))
      .when('its password is changed', right)
      .then('sessions and links end, and it is told', {
        credentials: of(nextProven, 'next'),
        revokedLinks: ['reset', 'change'],
        notice: tells('password'),
      });
    change('an unproven address', stored)
      .when('its password is changed', right)
      .then('its owner can still reset it', { credentials: of(next, 'next'), revokedLinks: ['change'] });
    change('another password by now', stored).when('it is changed', wrong).then(nothing, undefined);
    change('no password', none).when('it is changed', right).then(nothing, undefined);
    change('no account', undefined).when('its password is changed', right).then(nothing, undefined);
  });

  describe('hashing the password anew', () => {
    const rehash = given(decideRehash);
    rehash('a password', stored)
      .when('it is', right)
      .then('sessions go on', { credentials: of(account, 'next') });
    rehash('another password by now', stored).when('it is', wrong).then(nothing, undefined);
    rehash('no account', undefined).when('it is', right).then(nothing, undefined);
  });

  describe('ending access', () => {
    const end = given(decideEndingAccess);
    const [now, before] = [{ credentialVersion: 3 }, { credentialVersion: 2 }];
    end('an account', stored)
      .when('its person ends it', now)
      .then('keys and webhooks end', { credentials: stored, keysRevokedAt: NOW });
    end('another session by now', stored).when('the former person ends it', before).thenRefused('signed_out');
    end('no account', undefined).when('its person ends it', now).thenRefused('signed_out');
  });

  describe('closing', () => {
    const close = given(decideClosing);
    close('an account', stored)
      .when('it is closed', right)
      .then('all of it ends', {
        credentials: { account: { ...next, email: closedEmail(account.id) }, passwordHash: undefined },
        revokedLinks: LINK_KINDS,
        keysRevokedAt: NOW,
        closedAt: NOW,
      });
    close('a proven address', of(proven))
      .when('it is closed', right)
      .then('it is told all the same', {
        credentials: { account: { ...nextProven, email: closedEmail(account.id) }, passwordHash: undefined },
        revokedLinks: LINK_KINDS,
        keysRevokedAt: NOW,
        notice: tells('closed'),
        closedAt: NOW,
      });
    close('another password by now', stored).when('it is closed', wrong).then(nothing, undefined);
    close('no password', none).when('it is closed', right).then(nothing, undefined);
    close('no account', undefined).when('it is closed', right).then(nothing, undefined);
  });

  describe('a link', () => {
    const link = (each: Account, changes: Partial<MailedLink> = {}): MailedLink => ({
      credentials: of(each),
      expiresAt: SOON,
      address: undefined,
      isAddressTaken: false,
      ...changes,
    });
    const [expired, toNew] = [link(account, { expiresAt: NOW, address: NEW }), link(account, { address: NEW })];

    describe('that resets the password', () => {
      const reset = given(decideReset);
      const command = { passwordHash: 'next', noticeId };
      const notice = tells('recovered');
      const revokedLinks = LINK_KINDS;
      const [taken, claimed] = [
        { ...next, provenAt: NOW },
        { ...account, credentialVersion: 1, provenAt: NOW },
      ];
      reset('an unproven address', link(account))
        .when('it is followed', command)
        .then('the keys go, too', { credentials: of(taken, 'next'), revokedLinks, keysRevokedAt: NOW, notice });
      reset('a proven address', link(proven))
        .when('it is followed', command)
        .then('the keys stay', { credentials: of(nextProven, 'next'), revokedLinks, notice });
      reset('the operator’s word', link(operators))
        .when('it is followed', command)
        .then('the keys stay', { credentials: of(claimed, 'next'), revokedLinks, notice });
      reset('an expired link', expired).when('it is followed', command).then(nothing, undefined);
      reset('no link', undefined).when('it is followed', command).then(nothing, undefined);
    });

    describe('that changes the address', () => {
      const change = given(decideAddressChange);
      const command = { noticeId, confirmer: { current: 'hash' } };
      const by = (accountId: bigint, credentialVersion: number) => ({
        noticeId,
        confirmer: { person: { accountId: accountId as AccountId, credentialVersion } },
      });
      const notice = tells('changed');
      const moved = of({ ...account, email: NEW, provenAt: NOW });
      const toTaken = { ...toNew, isAddressTaken: true };
      const expiredToTaken = { ...expired, isAddressTaken: true };
      change('a free address', toNew)
        .when('it is followed', command)
        .then('it is proven', { credentials: moved, revokedLinks: LINK_KINDS });
      change('a free address', link(proven, { address: NEW }))
        .when('it is followed', command)
        .then('the former one, which was proven, is told', { credentials: moved, revokedLinks: LINK_KINDS, notice });
      change('a free address', toNew)
        .when('its person follows it', by(7n, 3))
        .then('it is proven', { credentials: moved, revokedLinks: LINK_KINDS });
      change('a free address', toNew).when('another account follows it', by(8n, 3)).thenRefused('invalid_parameter');
      change('a free address', toNew).when('a former session follows it', by(7n, 2)).thenRefused('signed_out');
      const otherPassword = { noticeId, confirmer: { current: 'another' } };
      change('another password by now', toNew).when('it is followed', otherPassword).then(nothing, undefined);
      change('an address with an account', toTaken).when('it is followed', command).thenRefused('email_taken');
      change('a link without an address', link(account)).when('it is followed', command).then(nothing, undefined);
      change('an expired link', expiredToTaken).when('it is followed', command).then(nothing, undefined);
      change('no link', undefined).when('it is followed', command).then(nothing, undefined);
    });
  });

  describe('a mail with a link', () => {
    const add = decisions({ it, expect }, decideLinkMail);
    const request = { most: 3 };
    add('two that are usable', { account, usable: 2 }).when('three may be', request).then('it is queued', true);
    add('three that are usable', { account, usable: 3 }).when('three may be', request).then('it is not', false);
    add('no account', { account: undefined, usable: 0 }).when('three may be', request).then('it is not', false);
    const [inVersion2, inVersion3] = [
      { most: 3, credentialVersion: 2 },
      { most: 3, credentialVersion: 3 },
    ];
    add('the version 3', { account, usable: 0 }).when('3 is wanted', inVersion3).then('it is queued', true);
    add('the version 3', { account, usable: 0 }).when('2 is wanted', inVersion2).thenRefused('signed_out');

    const send = decisions({ it, expect }, decideToken);
    const mail = { expiresAt: SOON };
    send('a claimed one', { account, mail }).when('it is sent', NOW).then('it has a token', true);
    send('one that has expired', { account, mail }).when('it is sent', SOON).then('it has none', false);
    send('one that is claimed again', { account, mail: undefined }).when('it is sent', NOW).then('it has none', false);
    send('one of a closed account', { account: undefined, mail }).when('it is sent', NOW).then('it has none', false);

    const answer = decisions({ it, expect }, decideSignUpMail);
    const asked = { createdAt: NOW, expiresAt: SOON };
    const state = (changes: Partial<SignUpMailState> = {}) => ({ holder: undefined, mail: asked, ...changes });
    const [older, newer] = [
      { ...account, createdAt: EARLIER },
      { ...account, createdAt: SOON },
    ];
    answer('a free address', state()).when('it is sent', NOW).then('it is a link', 'link');
    answer('an account', state({ holder: older }))
      .when('it is sent', NOW)
      .then('it says so', 'has-account');
    answer('an account since', state({ holder: newer }))
      .when('it is sent', NOW)
      .then('it is dropped', undefined);
    answer('one that has expired', state()).when('it is sent', SOON).then('it is dropped', undefined);
    answer('one claimed again', state({ mail: undefined }))
      .when('it is sent', NOW)
      .then('it is dropped', undefined);
  });
});
