import type { Application } from '@adoption-store/domain';

/** What the portal serves. No other use case is constructed. */
export const USE_CASES = (
  [
    ['getAccount', 'issueKey', 'rotateKey', 'revokeKey', 'renameKey', 'disableKey', 'showKey', 'showKeys'],
    ['signUp', 'signIn', 'changePassword', 'requestAddressProof', 'proveAddress', 'requestPasswordReset'],
    ['requestAddressChange', 'changeAddress', 'resetPassword', 'limitAttempts', 'closeAccount'],
    ['addAnimal', 'listAnimals'],
    ['addCategory', 'getCategory', 'listCategories', 'nameCategory', 'removeCategory'],
    ['answerOnce'],
    ['showUsage', 'showRefusals'],
    ['getMessage', 'showMessages'],
    ['listOrders'],
    ['beginSession', 'resumeSession', 'renewSession', 'endSession', 'endAllSessions'],
  ] as const
).flat();

export type PortalApplication = Application<(typeof USE_CASES)[number]>;
