export {
  type Infrastructure,
  type InfrastructureConfig,
  openInfrastructure,
  type Readings,
} from './open-infrastructure.js';
export { AccountTurns, TooManyAtOnce } from './turns/account-turns.js';
export { SharedReads } from './turns/shared-reads.js';
export { Turns } from './turns/turns.js';
