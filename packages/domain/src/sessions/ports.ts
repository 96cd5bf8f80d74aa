import type { SystemPorts } from '../kernel/ports.js';
import type { SessionRepository } from './session-repository.js';

export interface SessionPorts extends SystemPorts {
  readonly sessions: SessionRepository;
}
