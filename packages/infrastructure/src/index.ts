export {
  type Infrastructure,
  type InfrastructureConfig,
  openInfrastructure,
  type Query,
  type Readings,
} from './open-infrastructure.js';
