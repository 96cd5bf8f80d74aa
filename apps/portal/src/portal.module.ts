import type { Application, Clock } from '@adoption-store/domain';
import { UseCasesModule } from '@adoption-store/web';
import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { AccountController } from './accounts/account.controller.js';
import { AnimalsController } from './animals/animals.controller.js';
import { CategoriesController } from './categories/categories.controller.js';
import { AfterAnswer } from './http/after-answer.js';
import { CLOCK } from './http/clock.js';
import { Devices } from './http/devices.js';
import { ErrorFilter } from './http/error.filter.js';
import { FormThrottlerGuard } from './http/form-throttler.guard.js';
import { Sessions } from './http/sessions.js';
import { SignedInGuard } from './http/signed-in.guard.js';
import { FormOnce } from './accounts/form-once.js';
import { KeyController } from './accounts/key.controller.js';
import { KeysController } from './accounts/keys.controller.js';
import { MessagesController } from './messages/messages.controller.js';
import { OrdersController } from './orders/orders.controller.js';
import { UsageController } from './limits/usage.controller.js';
import { HomeController } from './sessions/home.controller.js';
import { ProofController } from './accounts/proof.controller.js';
import { ResetController } from './accounts/reset.controller.js';
import { SignInController } from './sessions/sign-in.controller.js';

interface PortalParts {
  readonly application: Application;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly devices: Devices;
  readonly afterAnswer: AfterAnswer;
}

@Module({})
export class PortalModule {
  static of({ application, clock, sessions, devices, afterAnswer }: PortalParts): DynamicModule {
    return {
      module: PortalModule,
      imports: [UseCasesModule.of(application)],
      controllers: [
        HomeController,
        SignInController,
        ResetController,
        ProofController,
        AccountController,
        KeysController,
        KeyController,
        UsageController,
        AnimalsController,
        CategoriesController,
        OrdersController,
        MessagesController,
      ],
      providers: [
        { provide: CLOCK, useValue: clock },
        { provide: Sessions, useValue: sessions },
        { provide: Devices, useValue: devices },
        { provide: AfterAnswer, useValue: afterAnswer },
        FormThrottlerGuard,
        FormOnce,
        { provide: APP_GUARD, useClass: SignedInGuard },
        { provide: APP_GUARD, useExisting: FormThrottlerGuard },
        { provide: APP_FILTER, useClass: ErrorFilter },
      ],
    };
  }
}
