import type { Application, UseCaseName } from '@adoption-store/domain';
import { type DynamicModule, Module } from '@nestjs/common';

/** Provides the use cases of these names, each under its class. */
@Module({})
export class UseCasesModule {
  static of<Name extends UseCaseName>(application: Application<Name>, names: readonly Name[]): DynamicModule {
    const providers = names.map((name) => ({ provide: application[name].constructor, useValue: application[name] }));
    return { module: UseCasesModule, global: true, providers, exports: providers };
  }
}
