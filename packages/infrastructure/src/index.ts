export {
  type Infrastructure,
  type InfrastructureConfig,
  openInfrastructure,
  type Readings,
} from './open-infrastructure.js';
export type { Dependency, DependencyChange } from './kernel/dependency-monitor.js';
