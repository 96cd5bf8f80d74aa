import { describe, expect, it } from '@jest/globals';
import { DAY, HOUR, instant, later, MINUTE, type PeriodOfUsage, plan } from '@adoption-store/domain';
import { viewHelpers } from './view-helpers.js';
import { chartOf } from './limits/usage-chart.js';

const now = instant(Date.UTC(2026, 10, 21, 12, 29));

describe('the pages’ helpers', () => {
  it('give times in UTC, machine-readable too', () => {
    expect(viewHelpers.dateTime(now)).toBe(
      '<time datetime="2026-11-21T12:29:00.000Z" data-shape="minute">21 Nov 2026, 12:29 UTC</time>',
    );
    expect(viewHelpers.date(now)).toBe(
      '<time datetime="2026-11-21T12:29:00.000Z" data-shape="date">21 Nov 2026</time>',
    );
    expect(viewHelpers.utcDate(now)).toBe('<time datetime="2026-11-21T12:29:00.000Z">21 Nov 2026</time>');
  });

  it.each([
    [-1, 'in 0 s'],
    [MINUTE - 1, 'in 60 s'],
    [MINUTE + 1, 'in 2 min'],
    [2 * HOUR, 'in 2 h'],
    [2 * DAY, 'in 2 days'],
  ])('round a wait up: %d ms are %s', (milliseconds, text) => {
    expect(viewHelpers.until(later(now, milliseconds), now)).toBe(text);
  });

  it.each([
    [0, 'just now'],
    [-2 * MINUTE, '2 min ago'],
    [-3 * HOUR + 1, '2 h ago'],
    [3 * DAY, 'in 3 days'],
    [-30 * DAY, '22 Oct 2026'],
  ])('say how far off a time is, with its minute in UTC as the title: %d ms are %s', (milliseconds, text) => {
    expect(viewHelpers.relative(later(now, milliseconds), now)).toMatch(
      new RegExp(
        `^<time datetime="[^"]+" data-shape="(?:relative|date)" title="\\d+ \\w+ 2026, \\d\\d:\\d\\d UTC">${text}</time>$`,
      ),
    );
  });

  it('isolate a text that tries to leave its isolate', () => {
    expect(viewHelpers.isolated('\u2069\u202ea\u2067\u2029b\n\u2066')).toBe('\u2068\u202eab\u2069');
  });

  it('show an enterprise plan’s limits only to its own account', () => {
    const limits = { perMinute: 5, perDay: 7 };
    expect(viewHelpers.plansBeside(plan('free')).at(-1)).toMatchObject({ name: 'enterprise', limits: undefined });
    const own = { name: 'enterprise', isOwn: true, limits: { name: 'enterprise', ...limits } };
    expect(viewHelpers.plansBeside(plan('enterprise', limits)).at(-1)).toEqual(own);
  });
});

describe('the chart of usage', () => {
  const periodsOf = (...uses: readonly (readonly [admitted: number, refused: number])[]): readonly PeriodOfUsage[] =>
    uses.map(([admitted, refused], index) => ({ start: instant(index * DAY), admitted, refused }));

  it('stacks the refused on the admitted, up to a round number, and draws nothing for nothing', () => {
    expect(chartOf(periodsOf([0, 0], [600, 200], [0, 400]))).toEqual({
      top: 800,
      admitted: 'M1.14 100V25h0.72V100z',
      refused: 'M1.14 25V0h0.72V25zM2.14 100V50h0.72V100z',
    });
    expect(chartOf(periodsOf([0, 0]))).toEqual({ top: 4, admitted: '', refused: '' });
  });

  it('has the line of the limit, unless that is far above the bars', () => {
    expect(chartOf(periodsOf([600, 0]), 1_000)).toMatchObject({ top: 1_000, limit: 0 });
    expect(chartOf(periodsOf([1_500, 0]), 1_000)).toMatchObject({ top: 2_000, limit: 50 });
    expect(chartOf(periodsOf([499, 0]), 1_000)).toMatchObject({ top: 600, limit: undefined });
  });

  it.each([
    [5, 6],
    [10, 10],
    [11, 20],
    [100_001, 200_000],
  ])('whose highest bar has %d ends at %d, an even number', (most, top) => {
    expect(chartOf(periodsOf([most, 0])).top).toBe(top);
  });
});
