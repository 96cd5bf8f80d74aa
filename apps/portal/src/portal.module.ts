import type { Application, Clock } from '@adoption-store/domain';
import { UseCasesModule } from '@adoption-store/web';
import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { AccountController } from './account/account.controller.js';
import { CatalogueController } from './catalogue/catalogue.controller.js';
import { CLOCK } from './http/clock.js';
import { ErrorFilter } from './http/error.filter.js';
import { THROTTLERS } from './http/form-throttler.guard.js';
import { Pages } from './http/pages.js';
import { Sessions } from './http/sessions.js';
import { SignedInGuard } from './http/signed-in.guard.js';
import { KeysController } from './keys/keys.controller.js';
import { UsageController } from './usage/usage.controller.js';
import { HomeController } from './visitors/home.controller.js';
import { ResetController } from './visitors/reset.controller.js';
import { SignInController } from './visitors/sign-in.controller.js';

export interface PortalParts {
  readonly application: Application;
  readonly clock: Clock;
  readonly pages: Pages;
  readonly sessions: Sessions;
}

@Module({})
export class PortalModule {
  static of({ application, clock, pages, sessions }: PortalParts): DynamicModule {
    return {
      module: PortalModule,
      imports: [UseCasesModule.of(application), ThrottlerModule.forRoot(THROTTLERS)],
      controllers: [
        HomeController,
        SignInController,
        ResetController,
        AccountController,
        KeysController,
        UsageController,
        CatalogueController,
      ],
      providers: [
        { provide: CLOCK, useValue: clock },
        { provide: Pages, useValue: pages },
        { provide: Sessions, useValue: sessions },
        { provide: APP_GUARD, useClass: SignedInGuard },
        { provide: APP_FILTER, useClass: ErrorFilter },
      ],
    };
  }
}
