// Passwords and addresses. They are for account holders in the portal, so the API never serves them.

export * from './change-address.js';
export * from './change-password.js';
export * from './close-account.js';
export * from './end-access.js';
export * from './limit-attempts.js';
export * from './request-address-change.js';
export * from './request-password-reset.js';
export * from './reset-password.js';
export * from './sign-in.js';
export * from './sign-up.js';
