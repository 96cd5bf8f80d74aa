import { Authenticate } from './authenticate.js';
import { ChangeAddress } from './change-address.js';
import { ChangePassword } from './change-password.js';
import { ChangePlan } from './change-plan.js';
import { ChangeScopes } from './change-scopes.js';
import { CloseAccount } from './close-account.js';
import { DeliverAccountMails } from './deliver-account-mails.js';
import { DisableKey } from './disable-key.js';
import { GetAccount } from './get-account.js';
import { IssueKey } from './issue-key.js';
import { LimitAttempts } from './limit-attempts.js';
import { ListAccounts } from './list-accounts.js';
import { ListKeys } from './list-keys.js';
import { ListOperations } from './list-operations.js';
import { OpenAccount } from './open-account.js';
import { ProveAddress } from './prove-address.js';
import { RenameKey } from './rename-key.js';
import { RequestAddressChange } from './request-address-change.js';
import { RequestAddressProof } from './request-address-proof.js';
import { RequestPasswordReset } from './request-password-reset.js';
import { ResetPassword } from './reset-password.js';
import { RevokeKey } from './revoke-key.js';
import { RollBackKey } from './roll-back-key.js';
import { RotateKey } from './rotate-key.js';
import { ShowKey } from './show-key.js';
import { ShowKeys } from './show-keys.js';
import { SignIn } from './sign-in.js';
import { SignUp } from './sign-up.js';

/** Accounts and their keys: for the API, the commands of operators and the portal. */
export const keyUseCases = {
  openAccount: OpenAccount,
  getAccount: GetAccount,
  listAccounts: ListAccounts,
  changePlan: ChangePlan,
  changeScopes: ChangeScopes,
  issueKey: IssueKey,
  rotateKey: RotateKey,
  revokeKey: RevokeKey,
  renameKey: RenameKey,
  disableKey: DisableKey,
  showKey: ShowKey,
  showKeys: ShowKeys,
  listOperations: ListOperations,
  rollBackKey: RollBackKey,
  listKeys: ListKeys,
  authenticate: Authenticate,
};

/** Passwords, addresses and mails: for account holders, so never for the API. */
export const holderUseCases = {
  signUp: SignUp,
  signIn: SignIn,
  changePassword: ChangePassword,
  requestAddressProof: RequestAddressProof,
  proveAddress: ProveAddress,
  requestPasswordReset: RequestPasswordReset,
  deliverAccountMails: DeliverAccountMails,
  requestAddressChange: RequestAddressChange,
  changeAddress: ChangeAddress,
  resetPassword: ResetPassword,
  limitAttempts: LimitAttempts,
  closeAccount: CloseAccount,
};
