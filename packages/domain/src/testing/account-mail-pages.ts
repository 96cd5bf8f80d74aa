import type { AccountMailPages } from '../accounts/mails/account-mail.js';

/** The pages of a portal that doesn't exist. */
export const accountMailPages: AccountMailPages = {
  reset: 'https://portal.example.com/reset-password',
  proof: 'https://portal.example.com/confirm-address',
  change: 'https://portal.example.com/confirm-new-address',
};
