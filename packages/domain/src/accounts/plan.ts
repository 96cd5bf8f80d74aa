import { invalid } from '../kernel/errors.js';

export interface PlanLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** The plans whose limits are the same for every account. */
export const PLANS = {
  free: { name: 'free', perMinute: 60, perDay: 1_000 },
  pro: { name: 'pro', perMinute: 300, perDay: 10_000 },
  business: { name: 'business', perMinute: 1_000, perDay: 100_000 },
} as const satisfies Readonly<Record<string, PlanLimits & { readonly name: string }>>;

export type FixedPlanName = keyof typeof PLANS;
export type PlanName = FixedPlanName | 'enterprise';
const FIXED_PLANS = Object.keys(PLANS) as readonly FixedPlanName[];
export const PLAN_NAMES: readonly PlanName[] = [...FIXED_PLANS, 'enterprise'];

/** What an account is allowed. An enterprise account has its own two numbers. */
export interface Plan extends PlanLimits {
  readonly name: PlanName;
}

/**
 * The plan of that name.
 *
 * @param limits what an enterprise plan allows, two integers ≥ 1; the other plans take none.
 * @throws DomainError `invalid_parameter`
 */
export function plan(name: PlanName, limits: Partial<PlanLimits> = {}): Plan {
  if (!PLAN_NAMES.includes(name)) throw invalid('plan', `must be one of ${PLAN_NAMES.join(', ')}`);
  const { perMinute, perDay } = limits;
  if (name !== 'enterprise') {
    if (perMinute !== undefined || perDay !== undefined)
      throw invalid('plan', `${name} has fixed limits; numbers of its own go with enterprise only`);
    return PLANS[name];
  }
  return {
    name,
    perMinute: atLeastOne('perMinute', perMinute),
    perDay: atLeastOne('perDay', perDay),
  };
}

/** Such as `pro`; with its limits, such as `enterprise (5000 a minute, 1000000 a day)`, where the name doesn't fix them. */
export function describePlan(given: Plan): string {
  const { name, perMinute, perDay } = given;
  const isFixed = name !== 'enterprise' && samePlan(given, PLANS[name]);
  return isFixed ? name : `${name} (${perMinute} a minute, ${perDay} a day)`;
}

export function samePlan(one: Plan, other: Plan): boolean {
  return one.name === other.name && one.perMinute === other.perMinute && one.perDay === other.perDay;
}

const MOST = 2 ** 31 - 1;

function atLeastOne(field: string, value = 0): number {
  if (!Number.isInteger(value) || value < 1 || value > MOST)
    throw invalid(field, `must be an integer from 1 to ${MOST} on the enterprise plan`);
  return value;
}
