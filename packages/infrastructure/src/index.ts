export {
  type Infrastructure,
  type InfrastructureConfig,
  openInfrastructure,
  type Readings,
} from './open-infrastructure.js';
