import type { Branded } from './branded.js';

/**
 * A transaction of the adapters. The domain only passes it on. A method of a port that gets one becomes part of it; without
 * one it runs in its own.
 */
export type Transaction = Branded<object, 'Transaction'>;
