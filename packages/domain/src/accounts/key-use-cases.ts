// Accounts and their keys: for the API, the commands of operators and the portal.

export { Authenticate } from './authenticate.js';
export * from './change-plan.js';
export * from './change-scopes.js';
export * from './disable-key.js';
export * from './get-account.js';
export { IssueKey } from './issue-key.js';
export * from './list-accounts.js';
export * from './list-keys.js';
export * from './list-operations.js';
export * from './open-account.js';
export * from './rename-key.js';
export * from './revoke-key.js';
export * from './roll-back-key.js';
export * from './rotate-key.js';
export * from './show-key.js';
export * from './show-keys.js';
