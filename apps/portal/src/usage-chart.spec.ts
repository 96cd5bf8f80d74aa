import { describe, expect, it } from '@jest/globals';
import { DAY, type DayOfUsage, instant } from '@adoption-store/domain';
import { chartOf } from './usage-chart.js';

const daysOf = (...uses: readonly (readonly [admitted: number, refused: number])[]): readonly DayOfUsage[] =>
  uses.map(([admitted, refused], index) => ({ day: instant(index * DAY), admitted, refused }));

describe('the chart of usage by day', () => {
  it('stacks the refused on the admitted, up to a round number', () => {
    const chart = chartOf(daysOf([0, 0], [600, 200]));
    expect(chart.top).toBe(800);
    expect(chart.days.map(({ x, width, admitted, refused }) => ({ x, width, admitted, refused }))).toEqual([
      { x: '7%', width: '36%', admitted: { y: '100%', height: '0%' }, refused: { y: '100%', height: '0%' } },
      { x: '57%', width: '36%', admitted: { y: '25%', height: '75%' }, refused: { y: '0%', height: '25%' } },
    ]);
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
  ])('whose highest day has %d ends at %d, an even number', (most, top) => {
    expect(chartOf(daysOf([most, 0])).top).toBe(top);
    expect(Number.isInteger(top / 2)).toBe(true);
  });
});
