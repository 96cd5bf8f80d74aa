/** Whether the text has at most `most` Unicode code points. */
export function hasAtMostCodePoints(text: string, most: number): boolean {
  if (text.length <= most) return true;
  return text.length <= 2 * most && [...text].length <= most;
}

const LONE_SURROGATE_OR_NUL = /\p{Surrogate}|\0/u;

/** Whether UTF-8 and PostgreSQL's `text` can store it. */
export function isStorable(text: string): boolean {
  return !LONE_SURROGATE_OR_NUL.test(text);
}
