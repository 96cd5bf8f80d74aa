import type { Application } from '@adoption-store/domain';

/** What the API calls at its start and around each request. The handlers and guards take other use cases by their classes. */
export const OWN_USE_CASES = (
  [
    ['openAccount', 'issueKey', 'revokeKey', 'authenticate'],
    ['addAnimal', 'listAnimals', 'listCategories', 'nameCategory'],
    ['meterRequest', 'recordRequest'],
  ] as const
).flat();

export type ApiApplication = Application<(typeof OWN_USE_CASES)[number]>;
