import type { Application } from '@adoption-store/domain';
import { type DynamicModule, Module } from '@nestjs/common';

/** Every use case of the application, each under its own class. */
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
