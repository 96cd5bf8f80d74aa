import type { Application } from '@adoption-store/domain';

/** What the API serves. No other use case is constructed. */
export const USE_CASES = (
  [
    ['openAccount', 'issueKey', 'revokeKey', 'authenticate'],
    ['addAnimal', 'getAnimal', 'listAnimals', 'changeAnimal', 'withdrawAnimal'],
    ['addCategory', 'getCategory', 'listCategories', 'nameCategory', 'removeCategory'],
    ['answerOnce'],
    ['meterRequest', 'recordRequest'],
    ['queueMessage', 'getMessage'],
    ['placeOrder', 'completeOrder', 'cancelOrder', 'getOrder', 'listOrders'],
  ] as const
).flat();

export type ApiApplication = Application<(typeof USE_CASES)[number]>;
