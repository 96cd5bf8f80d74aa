import type { Usage } from '@adoption-store/domain';
import type { Writable } from '../kernel/writable.js';

/** In place, as a usage for each request would be kept until its account's next. */
export function setUsage(held: Writable<Usage>, { minuteStart, minuteUsed, dayStart, dayUsed }: Usage): void {
  held.minuteStart = minuteStart;
  held.minuteUsed = minuteUsed;
  held.dayStart = dayStart;
  held.dayUsed = dayUsed;
}
