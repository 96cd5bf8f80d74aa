import type { Application } from '@adoption-store/domain';
import { type DynamicModule, Module, type LoggerService } from '@nestjs/common';
import type { FastifyBaseLogger } from 'fastify';

/** Provides each use case of the application under its class. */
@Module({})
export class UseCasesModule {
  static of(application: Application): DynamicModule {
    const providers = Object.values(application).map((useCase) => ({
      provide: useCase.constructor,
      useValue: useCase,
    }));
    return { module: UseCasesModule, global: true, providers, exports: providers };
  }
}

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
