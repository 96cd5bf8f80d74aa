import { DAY, instant, MINUTE, type Usage } from '@adoption-store/domain';

/**
 * A usage that is kept from one request to the next. It is changed in place, as a new one for each request would be kept
 * until its account's next. The windows are numbers of minutes and of days: an instant is too large for V8 to keep it
 * within the object, and each request would fetch it from elsewhere in memory.
 */
export class HeldUsage {
  private minute = 0;
  private minuteUsed = 0;
  private day = 0;
  private dayUsed = 0;

  get(): Usage {
    return {
      minuteStart: instant(this.minute * MINUTE),
      minuteUsed: this.minuteUsed,
      dayStart: instant(this.day * DAY),
      dayUsed: this.dayUsed,
    };
  }

  set({ minuteStart, minuteUsed, dayStart, dayUsed }: Usage): void {
    this.minute = minuteStart / MINUTE;
    this.minuteUsed = minuteUsed;
    this.day = dayStart / DAY;
    this.dayUsed = dayUsed;
  }
}
