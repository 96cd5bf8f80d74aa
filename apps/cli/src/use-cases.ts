import type { Application } from '@adoption-store/domain';

/** What the commands serve. No other use case is constructed. */
export const USE_CASES = (
  [
    ['openAccount', 'listAccounts', 'changePlan', 'changeScopes', 'issueKey', 'rotateKey'],
    ['revokeKey', 'disableKey', 'listOperations', 'rollBackKey', 'listKeys'],
    ['importAnimals', 'exportAnimals'],
    ['listCategories'],
    ['listMessages', 'retryMessage', 'retryFailedMessages'],
    ['listAllWebhooks', 'disableWebhook', 'removeWebhook', 'countWebhookSecrets'],
  ] as const
).flat();

export type CliApplication = Application<(typeof USE_CASES)[number]>;
