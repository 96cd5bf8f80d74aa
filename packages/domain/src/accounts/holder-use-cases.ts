// Passwords, addresses and mails: for account holders, so never for the API.

export { ChangeAddress as changeAddress } from './change-address.js';
export { ChangePassword as changePassword } from './change-password.js';
export { CloseAccount as closeAccount } from './close-account.js';
export { DeliverAccountMails as deliverAccountMails } from './deliver-account-mails.js';
export { LimitAttempts as limitAttempts } from './limit-attempts.js';
export { ProveAddress as proveAddress } from './prove-address.js';
export { RequestAddressChange as requestAddressChange } from './request-address-change.js';
export { RequestAddressProof as requestAddressProof } from './request-address-proof.js';
export { RequestPasswordReset as requestPasswordReset } from './request-password-reset.js';
export { ResetPassword as resetPassword } from './reset-password.js';
export { SignIn as signIn } from './sign-in.js';
export { SignUp as signUp } from './sign-up.js';
