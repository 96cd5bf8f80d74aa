/** Whether the text has at most `most` Unicode code points. */
export function hasAtMostCodePoints(text: string, most: number): boolean {
  // A code point has at most two code units, so the rest of a longer text can't change the answer.
  return [...text.slice(0, 2 * most + 1)].length <= most;
}

/**
 * The key by which names are compared without regard to case. It isn't in NFC: names of older categories may differ only
 * in their normal form, and then the exact key is looked up first.
 *
 * One lower-casing isn't enough: σ and ς share the upper case Σ, and ß has the upper case SS. So the key is the lower
 * case of the upper case. The first lower-casing is for ẞ, which is its own upper case. Σ gets ς at the end of a word
 * alone, so a beginning of a name wouldn't begin its key.
 */
export function nameKey(name: string): string {
  return name.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** The form of a text in which a part of it is found, whatever its case and normal form. */
export function searchKey(text: string): string {
  return nameKey(text.normalize('NFC')).normalize('NFC');
}

const LONE_SURROGATE_OR_NUL = /\p{Surrogate}|\0/u;

/** Whether UTF-8 and PostgreSQL's `text` can store it. */
export function isStorable(text: string): boolean {
  return !LONE_SURROGATE_OR_NUL.test(text);
}

/**
 * The ranges of characters that show nothing: white space, control and format characters, what Unicode calls default
 * ignorable, and characters whose glyph is blank. Written out, so that every version of Node.js accepts the same names.
 */
export const INVISIBLE: readonly (readonly [first: number, last: number])[] = [
  [0x0000, 0x0020],
  [0x007f, 0x00a0],
  [0x00ad, 0x00ad],
  [0x034f, 0x034f],
  [0x0600, 0x0605],
  [0x061c, 0x061c],
  [0x06dd, 0x06dd],
  [0x070f, 0x070f],
  [0x0890, 0x0891],
  [0x08e2, 0x08e2],
  [0x115f, 0x1160],
  [0x1680, 0x1680],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x2000, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0x2800, 0x2800],
  [0x3000, 0x3000],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x110bd, 0x110bd],
  [0x110cd, 0x110cd],
  [0x13430, 0x1343f],
  [0x13441, 0x13442],
  [0x16fe4, 0x16fe4],
  [0x1bca0, 0x1bca3],
  [0x1d159, 0x1d159],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

const RANGES = INVISIBLE.map((range) => range.map(unicodeEscape).join('-')).join('');
const ANY_INVISIBLE = new RegExp(`[${RANGES}]`, 'u');
const EACH_BUT_SPACE = new RegExp(`(?! )[${RANGES}]`, 'gu');
// A combining mark is seen only on another character. Where Node.js doesn't know the newest marks, they count as visible.
const ANY_VISIBLE = new RegExp(`[^${RANGES}\\p{M}]`, 'u');

export function hasInvisible(text: string): boolean {
  return ANY_INVISIBLE.test(text);
}

/** Whether a character can be seen. Combining marks alone can't. */
export function hasVisible(text: string): boolean {
  return ANY_VISIBLE.test(text);
}

/** The text with its invisible characters, except spaces, escaped as `\u{200B}`, so that people can see them. */
export function escapeInvisible(text: string): string {
  return text.replace(EACH_BUT_SPACE, (character) => unicodeEscape(character.codePointAt(0) ?? 0));
}

/** JSON text with its invisible characters escaped as JSON does it: its values stay the same. */
export function escapeInvisibleInJson(json: string): string {
  return json.replace(EACH_BUT_SPACE, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** Such as `\u{AD}`. */
function unicodeEscape(codePoint: number): string {
  return `\\u{${codePoint.toString(16).toUpperCase()}}`;
}
