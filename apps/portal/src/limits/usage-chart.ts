import type { PeriodOfUsage } from '@adoption-store/domain';

/** A bar chart. A bar is one unit of the drawing wide; its height is in per cent of the drawing. */
interface Chart {
  /** The bars of each outcome, as the `d` of an SVG path. `y` is measured from the top, as in SVG. */
  readonly admitted: string;
  /** Stacked on `admitted`. */
  readonly refused: string;
  /** The value at the chart's full height: an even round number, at least 4. */
  readonly top: number;
  /** The height of the limit, measured from the top. Undefined if it is so far above the bars that it would flatten them. */
  readonly limit?: number | undefined;
}

const SHARE_OF_BAR = 0.72;

/** The geometry of a bar chart. One path for all bars is a tenth of the bytes of an element for each. */
export function chartOf(periods: readonly PeriodOfUsage[], limit = Infinity): Chart {
  const most = Math.max(0, ...periods.map(({ admitted, refused }) => admitted + refused));
  const isNear = limit <= 2 * most;
  const top = roundUp(isNear ? Math.max(most, limit) : most);
  const heightOf = (requests: number) => 100 - (100 * requests) / top;
  const bars = (edges: (period: PeriodOfUsage) => readonly [from: number, to: number]) =>
    periods.map((period, index) => barOf(index, ...edges(period))).join('');
  return {
    top,
    limit: isNear ? heightOf(limit) : undefined,
    admitted: bars(({ admitted }) => [100, heightOf(admitted)]),
    refused: bars(({ admitted, refused }) => [heightOf(admitted), heightOf(admitted + refused)]),
  };
}

/** A rectangle in the bar's slot. Nothing if it has no height. */
function barOf(index: number, from: number, to: number): string {
  if (from === to) return '';
  return `M${short(index + (1 - SHARE_OF_BAR) / 2)} ${short(from)}V${short(to)}h${SHARE_OF_BAR}V${short(from)}z`;
}

function roundUp(value: number): number {
  if (value <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 4, 6, 8].find((step) => step * power >= value) ?? 10);
}

function short(value: number): string {
  return String(Number(value.toFixed(2)));
}
