import type { LoggerService } from '@nestjs/common';
import type { FastifyBaseLogger } from 'fastify';

/** Nest's token for the application, whose type isn't a class and can't be a token itself. */
export const APPLICATION = 'Application';

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
