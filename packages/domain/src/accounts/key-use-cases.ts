// Accounts and their keys: for the API, the commands of operators and the portal.

export { Authenticate as authenticate } from './authenticate.js';
export { ChangePlan as changePlan } from './change-plan.js';
export { ChangeScopes as changeScopes } from './change-scopes.js';
export { DisableKey as disableKey } from './disable-key.js';
export { GetAccount as getAccount } from './get-account.js';
export { IssueKey as issueKey } from './issue-key.js';
export { ListAccounts as listAccounts } from './list-accounts.js';
export { ListKeys as listKeys } from './list-keys.js';
export { ListOperations as listOperations } from './list-operations.js';
export { OpenAccount as openAccount } from './open-account.js';
export { RenameKey as renameKey } from './rename-key.js';
export { RevokeKey as revokeKey } from './revoke-key.js';
export { RollBackKey as rollBackKey } from './roll-back-key.js';
export { RotateKey as rotateKey } from './rotate-key.js';
export { ShowKey as showKey } from './show-key.js';
export { ShowKeys as showKeys } from './show-keys.js';
