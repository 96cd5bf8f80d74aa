export { type Infrastructure, type InfrastructureConfig, openInfrastructure } from './open-infrastructure.js';
