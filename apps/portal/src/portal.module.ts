import type { Application, Clock } from '@adoption-store/domain';
import { Turns } from '@adoption-store/infrastructure/turns';
import { UseCasesModule } from '@adoption-store/web';
import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { AccessController } from './accounts/access.controller.js';
import { AccountController } from './accounts/account.controller.js';
import { KeysController } from './accounts/keys.controller.js';
import { SignUpController } from './accounts/sign-up.controller.js';
import { VisitorsController } from './accounts/visitors.controller.js';
import { AnimalController } from './animals/animal.controller.js';
import { AnimalsController } from './animals/animals.controller.js';
import { CategoriesController } from './categories/categories.controller.js';
import { CategoryChoice } from './categories/category-choice.js';
import { AccessGuard } from './http/access.guard.js';
import { Attempts } from './http/attempts.js';
import { BackgroundTasks } from './http/background-tasks.js';
import { CLOCK } from './http/decorators.js';
import { Devices } from './http/devices.js';
import { ErrorFilter } from './http/error.filter.js';
import { FormPipe } from './http/forms.js';
import { AnswerInterceptor } from './http/pages.js';
import { Sessions } from './http/sessions.js';
import { TurnInterceptor } from './http/turns.js';
import { UsageController } from './limits/usage.controller.js';
import { MessagesController } from './messages/messages.controller.js';
import { OrdersController } from './orders/orders.controller.js';
import { SignInController } from './sessions/sign-in.controller.js';
import { SignInNeededFilter } from './sessions/sign-in-needed.filter.js';
import { WebhooksController } from './webhooks/webhooks.controller.js';

const CONTROLLERS = [
  SignInController,
  SignUpController,
  VisitorsController,
  AccountController,
  AccessController,
  KeysController,
  UsageController,
  AnimalsController,
  AnimalController,
  CategoriesController,
  OrdersController,
  MessagesController,
  WebhooksController,
];

interface PortalParts {
  readonly application: Application;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly devices: Devices;
  readonly tasks: BackgroundTasks;
  readonly turns: Turns;
}

@Module({})
export class PortalModule {
  static of({ application, clock, sessions, devices, tasks, turns }: PortalParts): DynamicModule {
    return {
      module: PortalModule,
      imports: [UseCasesModule.of(application)],
      controllers: CONTROLLERS,
      providers: [
        { provide: CLOCK, useValue: clock },
        { provide: Sessions, useValue: sessions },
        { provide: Devices, useValue: devices },
        { provide: BackgroundTasks, useValue: tasks },
        { provide: Turns, useValue: turns },
        Attempts,
        CategoryChoice,
        { provide: APP_GUARD, useClass: AccessGuard },
        { provide: APP_PIPE, useClass: FormPipe },
        { provide: APP_INTERCEPTOR, useClass: AnswerInterceptor },
        { provide: APP_INTERCEPTOR, useClass: TurnInterceptor },
        // Nest asks the last filter first.
        { provide: APP_FILTER, useClass: ErrorFilter },
        { provide: APP_FILTER, useClass: SignInNeededFilter },
      ],
    };
  }
}
