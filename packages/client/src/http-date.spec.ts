import { expect, it } from '@jest/globals';
import { httpDate } from './http-date.js';

it.each(['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])(
  'a date in a header is read in each form of HTTP: %s',
  (text) => {
    expect(httpDate(text)).toBe(Date.UTC(1994, 10, 6, 8, 49, 37));
  },
);

it.each(['Mon, 30 Feb 2026 00:00:00 GMT', 'Tue, 31-Nov-26 00:00:00 GMT', 'Sun Feb 29 00:00:00 2026', '2026-11-25', ''])(
  'a date that does not exist, or is none of HTTP’s, is not read: %j',
  (text) => {
    expect(httpDate(text)).toBeUndefined();
  },
);
