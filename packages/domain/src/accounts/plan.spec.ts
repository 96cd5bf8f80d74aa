import { describe, expect, it } from '@jest/globals';
import { describePlan, limitsOf, plan, type PlanName, samePlan } from './plan.js';

describe('a plan', () => {
  it.each<[PlanName, number, number]>([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ])('%s allows %d requests a minute and %d a day', (name, perMinute, perDay) => {
    expect(limitsOf(plan(name))).toEqual({ perMinute, perDay });
  });

  it('enterprise allows the limits it was given', () => {
    expect(describePlan(plan('enterprise', { perMinute: 5, perDay: 7 }))).toBe('enterprise (5 a minute, 7 a day)');
  });

  it.each([1, 2 ** 31 - 1])('enterprise may allow %d, by the minute and by the day', (most) => {
    const limits = { perMinute: most, perDay: most };
    expect(limitsOf(plan('enterprise', limits))).toEqual(limits);
  });

  it('is another one where its name or one of its two numbers differs', () => {
    const one = plan('enterprise', { perMinute: 60, perDay: 1_000 });
    expect(samePlan(one, plan('enterprise', limitsOf(one)))).toBe(true);
    expect(samePlan(one, plan('enterprise', { perMinute: 61, perDay: 1_000 }))).toBe(false);
    expect(samePlan(one, plan('enterprise', { perMinute: 60, perDay: 1_001 }))).toBe(false);
    expect(samePlan(one, plan('free'))).toBe(false);
  });

  it.each([
    ['enterprise without numbers', 'enterprise', {}],
    ['enterprise without a number for the day', 'enterprise', { perMinute: 5 }],
    ['enterprise without a number for the minute', 'enterprise', { perDay: 5 }],
    ['enterprise with a zero', 'enterprise', { perMinute: 0, perDay: 5 }],
    ['enterprise with a fraction', 'enterprise', { perMinute: 1.5, perDay: 5 }],
    ['enterprise with 2^31', 'enterprise', { perMinute: 5, perDay: 2 ** 31 }],
    ['another plan with numbers', 'pro', { perMinute: 5, perDay: 5 }],
    ['another plan with a number for the minute', 'pro', { perMinute: 5 }],
    ['another plan with a number for the day', 'pro', { perDay: 5 }],
    ['a plan that does not exist', 'gold', {}],
  ])('%s is refused', (_what, name, limits) => {
    expect(() => plan(name as PlanName, limits)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
  });
});
