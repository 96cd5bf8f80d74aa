export { TooManyAtOnce } from './account-turns.js';
export { SharedReads } from './shared-reads.js';
export { Turns } from './turns.js';
