import type { Clock } from '@adoption-store/domain';
import { UseCasesModule } from '@adoption-store/web';
import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { AccountController } from './account/account.controller.js';
import { CatalogueController } from './catalogue/catalogue.controller.js';
import { CategoriesController } from './categories/categories.controller.js';
import { AfterAnswer } from './http/after-answer.js';
import { CLOCK } from './http/clock.js';
import { Devices } from './http/devices.js';
import { ErrorFilter } from './http/error.filter.js';
import { FormThrottlerGuard } from './http/form-throttler.guard.js';
import { Sessions } from './http/sessions.js';
import { SignedInGuard } from './http/signed-in.guard.js';
import { FormOnce } from './keys/form-once.js';
import { KeyController } from './keys/key.controller.js';
import { KeysController } from './keys/keys.controller.js';
import { MessagesController } from './messages/messages.controller.js';
import { OrdersController } from './orders/orders.controller.js';
import { UsageController } from './usage/usage.controller.js';
import { HomeController } from './visitors/home.controller.js';
import { ProofController } from './visitors/proof.controller.js';
import { ResetController } from './visitors/reset.controller.js';
import { SignInController } from './visitors/sign-in.controller.js';
import { type PortalApplication, USE_CASES } from './use-cases.js';

interface PortalParts {
  readonly application: PortalApplication;
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
      imports: [UseCasesModule.of(application, USE_CASES)],
      controllers: [
        HomeController,
        SignInController,
        ResetController,
        ProofController,
        AccountController,
        KeysController,
        KeyController,
        UsageController,
        CatalogueController,
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
