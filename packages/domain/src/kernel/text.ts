/** Whether the text has at most `most` Unicode code points. */
export function hasAtMostCodePoints(text: string, most: number): boolean {
  // A code point has at most two code units, so what follows can't change the answer.
  return [...text.slice(0, 2 * most + 1)].length <= most;
}

const LONE_SURROGATE_OR_NUL = /\p{Surrogate}|\0/u;

/** Whether UTF-8 and PostgreSQL's `text` can store it. */
export function isStorable(text: string): boolean {
  return !LONE_SURROGATE_OR_NUL.test(text);
}

/** A character that can be seen: neither white space nor a control or format character. */
export const VISIBLE = /[^\s\p{Cc}\p{Cf}]/u;
