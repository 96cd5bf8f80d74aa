import type { LoggerService } from '@nestjs/common';
import type { FastifyBaseLogger } from 'fastify';

export function nestLogger(log: FastifyBaseLogger): LoggerService {
  return {
    log: (message: unknown) => {
      log.debug(message);
    },
    warn: (message: unknown) => {
      log.warn(message);
    },
    error: (message: unknown) => {
      log.error(message);
    },
  };
}
