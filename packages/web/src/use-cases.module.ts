import type { Application } from '@adoption-store/domain';
import { type DynamicModule, Module } from '@nestjs/common';

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
