/** What the worker serves. No other use case is constructed. */
export const USE_CASES = [
  'deliverAccountMails',
  'deliverMessages',
  'deliverWebhooks',
  'expireOrders',
  'publishEvents',
  'purgeExpired',
  'wakeWebhooks',
  'reencryptWebhooks',
] as const;
