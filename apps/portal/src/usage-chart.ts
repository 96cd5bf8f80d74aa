import type { DayOfUsage } from '@adoption-store/domain';

/** One day's bars, in per cent of the chart's width and height. `y` is measured from the top, as in SVG. */
export interface ChartDay {
  readonly day: DayOfUsage;
  readonly x: string;
  readonly width: string;
  readonly admitted: Bar;
  /** Stacked on the admitted. */
  readonly refused: Bar;
}

export interface Bar {
  readonly y: string;
  readonly height: string;
}

export interface Chart {
  readonly days: readonly ChartDay[];
  /** The value at the chart's full height: an even round number, at least 4. */
  readonly top: number;
}

const SHARE_OF_BAR = 0.72;

/** The geometry of a bar chart in percentages, so that it fits every width without stretching lines and patterns. */
export function chartOf(days: readonly DayOfUsage[]): Chart {
  const top = roundUp(Math.max(0, ...days.map(({ admitted, refused }) => admitted + refused)));
  const slot = 100 / days.length;
  return {
    top,
    days: days.map((day, index) => {
      const admitted = (100 * day.admitted) / top;
      const refused = (100 * day.refused) / top;
      return {
        day,
        x: percent((index + (1 - SHARE_OF_BAR) / 2) * slot),
        width: percent(SHARE_OF_BAR * slot),
        admitted: { y: percent(100 - admitted), height: percent(admitted) },
        refused: { y: percent(100 - admitted - refused), height: percent(refused) },
      };
    }),
  };
}

function roundUp(value: number): number {
  if (value <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 4, 6, 8].find((step) => step * power >= value) ?? 10);
}

function percent(value: number): string {
  return `${Number(Math.max(0, value).toFixed(2))}%`;
}
