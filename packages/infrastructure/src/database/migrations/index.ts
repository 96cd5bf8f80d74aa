// TypeORM runs them in the order of their timestamps. A released migration is never edited, and none is reverted.
export * from './1700000100000-baseline/index.js';
