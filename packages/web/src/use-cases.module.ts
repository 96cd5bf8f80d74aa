import { type Application, type UseCaseName, useCasesAmong } from '@adoption-store/domain';
import { type DynamicModule, Module, type Type } from '@nestjs/common';

/** Provides each use case of the application under its class. */
@Module({})
export class UseCasesModule {
  static of(application: Partial<Application>): DynamicModule {
    const providers = Object.values(application).map((useCase) => ({
      provide: useCase.constructor,
      useValue: useCase,
    }));
    return { module: UseCasesModule, global: true, providers, exports: providers };
  }
}

/** The names of the use cases that these classes take in their constructors. */
export function injectedUseCases(classes: readonly Type[]): readonly UseCaseName[] {
  // The compiler's `emitDecoratorMetadata` stores these types. Nest reads them too.
  const types = classes.map((each) => Reflect.getMetadata('design:paramtypes', each) as readonly unknown[] | undefined);
  return useCasesAmong(types.flatMap((each) => each ?? []));
}
