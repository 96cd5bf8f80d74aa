import { Admission } from '@adoption-store/admission';
import { type Application, MINUTE } from '@adoption-store/domain';
import { Turns } from '@adoption-store/infrastructure/turns';
import { UseCasesModule } from '@adoption-store/web';
import { RouteTable } from '@adoption-store/web/edge';
import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { ApiContext } from './http/answers/api-context.js';
import { BearerAuthGuard } from './accounts/bearer-auth.guard.js';
import { ErrorFilter } from './http/edge/error.filter.js';
import { CategoriesController } from './categories/categories.controller.js';
import { Idempotency } from './idempotency/idempotency.js';
import { PlanThrottlerGuard } from './limits/plan-throttler.guard.js';
import { EventsController } from './events/events.controller.js';
import { operationsOf } from './http/operations/operation.js';
import { UnknownRoutesController } from './http/edge/unknown-routes.controller.js';
import { MessagesController } from './messages/messages.controller.js';
import { AnimalsController } from './animals/animals.controller.js';
import { LimitsController } from './limits/limits.controller.js';
import { ScopesGuard } from './accounts/scopes.guard.js';
import { OrdersController } from './orders/orders.controller.js';
import { WebhooksController } from './webhooks/webhooks.controller.js';

const CONTROLLERS = [
  AnimalsController,
  CategoriesController,
  OrdersController,
  MessagesController,
  EventsController,
  WebhooksController,
  LimitsController,
];
const GUARDS = [BearerAuthGuard, PlanThrottlerGuard, ScopesGuard];

/** Every operation of the API, for the description and the metrics. */
export const OPERATIONS = operationsOf(CONTROLLERS);

export interface ApiParts {
  readonly application: Application;
  readonly context: ApiContext;
  readonly routes: RouteTable;
  readonly admission: Admission;
  readonly turns: Turns;
}

@Module({})
export class ApiModule {
  static of({ application, context, routes, admission, turns }: ApiParts): DynamicModule {
    // The throttler requires a limit but never uses it: the plan's limits apply.
    const throttlers = [{ name: 'plan', ttl: MINUTE, limit: 0 }];
    return {
      module: ApiModule,
      imports: [UseCasesModule.of(application), ThrottlerModule.forRoot({ throttlers })],
      controllers: [...CONTROLLERS, UnknownRoutesController],
      providers: [
        { provide: ApiContext, useValue: context },
        { provide: RouteTable, useValue: routes },
        { provide: Admission, useValue: admission },
        { provide: Turns, useValue: turns },
        Idempotency,
        ...GUARDS.map((guard) => ({ provide: APP_GUARD, useClass: guard })),
        { provide: APP_FILTER, useClass: ErrorFilter },
      ],
    };
  }
}
