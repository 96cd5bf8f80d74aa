/**
 * A spreadsheet executes a cell that begins with certain characters as a formula:
 * https://owasp.org/www-community/attacks/CSV_Injection. A cell may also begin within a text, because a spreadsheet may
 * use another separator than the comma.
 */
const BEGIN_OF_CELL = '(?<=^|[,;|"\\t\\r\\n])';
const FORMULA = "(?=[' ]*[=+\\-@\\t\\r\\n\\uFF1D\\uFF0B\\uFF0D\\uFF20])";
const BEFORE_FORMULA = new RegExp(BEGIN_OF_CELL + FORMULA, 'gu');
const APOSTROPHE = new RegExp(`${BEGIN_OF_CELL}'${FORMULA}`, 'gu');

/** The text with an apostrophe before each formula, so that a spreadsheet doesn't execute it. */
export function disarmed(text: string): string {
  return text.replace(BEFORE_FORMULA, "'");
}

/** The original of a disarmed text. */
export function armed(text: string): string {
  return text.replace(APOSTROPHE, '');
}
