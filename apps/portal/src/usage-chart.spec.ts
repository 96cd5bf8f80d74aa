import { describe, expect, it } from '@jest/globals';
import { DAY, instant, type PeriodOfUsage } from '@adoption-store/domain';
import { chartOf } from './usage-chart.js';

const periodsOf = (...uses: readonly (readonly [admitted: number, refused: number])[]): readonly PeriodOfUsage[] =>
  uses.map(([admitted, refused], index) => ({ start: instant(index * DAY), admitted, refused }));

describe('the chart of usage', () => {
  it('stacks the refused on the admitted, up to a round number, and draws nothing for nothing', () => {
    expect(chartOf(periodsOf([0, 0], [600, 200], [0, 400]))).toEqual({
      top: 800,
      admitted: 'M1.14 100V25h0.72V100z',
      refused: 'M1.14 25V0h0.72V25zM2.14 100V50h0.72V100z',
    });
    expect(chartOf(periodsOf([0, 0]))).toEqual({ top: 4, admitted: '', refused: '' });
  });

  it.each([
    [0, 4],
    [4, 4],
    [5, 6],
    [9, 10],
    [10, 10],
    [11, 20],
    [61, 80],
    [81, 100],
    [100_000, 100_000],
    [100_001, 200_000],
  ])('whose highest bar has %d ends at %d, an even number', (most, top) => {
    expect(chartOf(periodsOf([most, 0])).top).toBe(top);
    expect(Number.isInteger(top / 2)).toBe(true);
  });
});
