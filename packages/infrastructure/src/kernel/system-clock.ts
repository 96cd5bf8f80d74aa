import { type Clock, instant } from '@adoption-store/domain';

export const systemClock: Clock = { now: () => instant(Date.now()) };
