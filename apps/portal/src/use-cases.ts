import type { Application } from '@adoption-store/domain';

/** What the portal calls around each request. The handlers take other use cases by their classes. */
export const OWN_USE_CASES = (
  [
    ['getAccount', 'requestPasswordReset'],
    ['beginSession', 'resumeSession', 'renewSession', 'endSession'],
  ] as const
).flat();

export type PortalApplication = Application<(typeof OWN_USE_CASES)[number]>;
