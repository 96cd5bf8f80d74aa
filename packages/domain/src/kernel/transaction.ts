import type { Branded } from './branded.js';

/** A transaction of the adapters, which the domain only passes on. A port's method that gets one becomes part of it. */
export type Transaction = Branded<object, 'Transaction'>;
