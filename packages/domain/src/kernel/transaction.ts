import type { Branded } from './branded.js';

/**
 * A transaction of the adapters, which nobody else looks into. A method of a port that is given one becomes part of it;
 * otherwise it is a transaction of its own.
 */
export type Transaction = Branded<object, 'Transaction'>;
