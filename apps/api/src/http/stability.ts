import { SetMetadata } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';

/** How likely an operation is to change. A stable one has no level. */
export type StabilityLevel = 'beta' | 'experimental';

declare module 'fastify' {
  interface FastifyContextConfig {
    stability?: StabilityLevel;
  }
}

/** The key of the metadata on the controller. */
const STABILITY = 'stability';

/** Sets the level of every operation of a controller. */
export function Stability(level: StabilityLevel): ClassDecorator {
  const mark = RouteConfig({ stability: level });
  return (controller) => {
    SetMetadata(STABILITY, level)(controller);
    const methods = Object.getOwnPropertyDescriptors(controller.prototype as Record<string, unknown>);
    // Fastify's configuration is per route, and class decorators run after the methods' own.
    for (const [name, descriptor] of Object.entries(methods)) {
      if (name !== 'constructor') mark(controller.prototype as object, name, descriptor);
    }
  };
}

/** The stability of the operations of a controller. */
export function stabilityOf(controller: object): StabilityLevel | undefined {
  return Reflect.getMetadata(STABILITY, controller) as StabilityLevel | undefined;
}
