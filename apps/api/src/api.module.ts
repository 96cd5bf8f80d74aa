import type { Application } from '@adoption-store/domain';
import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { ApiContext } from './http/api-context.js';
import { BearerAuthGuard } from './http/bearer-auth.guard.js';
import { ErrorFilter } from './http/error.filter.js';
import { RouteTable } from './http/route-table.js';
import { UnknownRoutesController } from './http/unknown-routes.controller.js';
import { PetsController } from './pets/pets.controller.js';
import { UseCasesModule } from './use-cases.module.js';

@Module({})
export class ApiModule {
  static of(application: Application, context: ApiContext, routes: RouteTable): DynamicModule {
    return {
      module: ApiModule,
      imports: [UseCasesModule.of(application)],
      controllers: [PetsController, UnknownRoutesController],
      providers: [
        { provide: ApiContext, useValue: context },
        { provide: RouteTable, useValue: routes },
        { provide: APP_GUARD, useClass: BearerAuthGuard },
        { provide: APP_FILTER, useClass: ErrorFilter },
      ],
    };
  }
}
