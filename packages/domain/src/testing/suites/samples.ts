import { INT64_MAX, INT64_MIN } from '../../kernel/int64.js';

/** Integers at which machines, formats and drivers change how they store them. */
export const INTEGERS = [INT64_MIN, INT64_MIN + 1n, -1n, 0n, 2n ** 31n, 2n ** 53n + 1n, INT64_MAX - 1n, INT64_MAX];

/** Texts that a statement, a format or an object could take for a part of itself, and characters of every kind. */
export const TEXTS = [
  `' " \\ \\n \\u0000 %_ $1 -- ; {} \r\n \u2028`,
  'null',
  '__proto__',
  'é e\u0301',
  Array.from({ length: 127 }, (_, index) => String.fromCodePoint(index + 1)).join(''),
  // From all planes of Unicode, without surrogates.
  Array.from({ length: 223 }, (_, index) => String.fromCodePoint(index * 4_993 + 1)).join(''),
];
