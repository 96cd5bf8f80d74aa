// Passwords, addresses and mails. They are for account holders in the portal, so the API never serves them.

export * from './change-address.js';
export * from './change-password.js';
export * from './close-account.js';
export * from '../mails/deliver-account-mails.js';
export * from './limit-attempts.js';
export * from './prove-address.js';
export * from './request-address-change.js';
export * from './request-address-proof.js';
export * from './request-password-reset.js';
export * from './reset-password.js';
export * from './sign-in.js';
export * from './sign-up.js';
