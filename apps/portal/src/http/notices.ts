import { HOUR, LONGEST_SESSION, MINUTE, SESSION_IDLE_TIME } from '@adoption-store/domain';
import type { FastifyReply } from 'fastify';
import { cookieName, takeCookie } from './cookies.js';

/** The reasons for which a session ends while the browser still has its cookie. */
export const WHY_SIGNED_OUT =
  `This happens after ${SESSION_IDLE_TIME / MINUTE} minutes without use, after ${LONGEST_SESSION / HOUR} hours, ` +
  'and when you sign out or change the password elsewhere.';

/** The confirmations that the next page shows once. */
const NOTICES = {
  'signed-up': 'Your account is open. Generate a key, and you can call the API.',
  'signed-out': 'You are signed out.',
  'signed-out-everywhere': 'You are signed out on all devices.',
  'session-ended': `You have been signed out. ${WHY_SIGNED_OUT}`,
  'access-ended': 'All keys are revoked, and all webhooks are deleted.',
  'address-change-sent':
    'We have sent a link to the new address. It is valid for one hour. Your address changes when you confirm it there.',
  'address-change-not-sent':
    'No e-mail was sent: three of your links still work, or that address has got too many. Try again in an hour.',
  'address-changed': 'The e-mail address is changed. Sign in with the new one from now on.',
  'password-changed': 'Your password is changed. All your other sessions have ended.',
  'password-reset': 'Your new password is set, and all your sessions have ended. Sign in with it.',
  'account-closed': 'Your account is closed, and its keys are revoked.',
  'key-renamed': 'The key has its new name.',
  'key-disabled': 'The key is disabled. Requests with it are refused until you enable it.',
  'key-enabled': 'The key is enabled. It works again.',
  'key-not-changed': 'Nothing was changed: the key was disabled, rotated or revoked meanwhile, or has expired.',
  'key-revoked': 'The key is revoked. Requests with it are refused from now on.',
  'form-sent-before': 'This form was already sent, so nothing was done again. Keys and secrets are shown only once.',
  'webhook-changed': 'The webhook is changed.',
  'delivery-queued': 'It is being sent. This page shows the response by itself.',
  'deliveries-recovering': 'What has failed or was never sent since then is being sent, at the receiver’s pace.',
  'webhook-enabled': 'The webhook is enabled. Events are sent to it from now on.',
  'webhook-disabled': 'The webhook is disabled. Nothing is sent to it until you enable it.',
  'webhook-deleted': 'The webhook is deleted. Nothing more is sent to it.',
  'order-completed': 'The order is completed.',
  'order-cancelled': 'The order is cancelled.',
  'animal-added': 'The animal is in the catalogue.',
  'animal-changed': 'The animal is changed.',
  'animal-withdrawn': 'The animal is withdrawn.',
  'category-added': 'The category is added.',
  'category-named': 'The category has its new name.',
  'category-removed': 'The category is removed.',
} as const;

export type Notice = keyof typeof NOTICES;

const COOKIE = 'notice';
const MAX_AGE = 60;

export function giveNotice(reply: FastifyReply, notice: Notice): void {
  reply.setCookie(cookieName(reply.request, COOKIE), notice, { maxAge: MAX_AGE });
}

export function takeNotice(reply: FastifyReply): string | undefined {
  const name = takeCookie(reply, COOKIE);
  return name !== undefined && Object.hasOwn(NOTICES, name) ? NOTICES[name as Notice] : undefined;
}
