/**
 * A spreadsheet takes a cell for a formula that begins so (https://owasp.org/www-community/attacks/CSV_Injection). A
 * cell may begin within a text too, because a spreadsheet may take another separator than the comma.
 */
const BEGIN_OF_CELL = '(?<=^|[,;|"\\t\\r\\n])';
const FORMULA = "(?=[' ]*[=+\\-@\\t\\r\\n\\uFF1D\\uFF0B\\uFF0D\\uFF20])";
const BEFORE_FORMULA = new RegExp(BEGIN_OF_CELL + FORMULA, 'gu');
const APOSTROPHE = new RegExp(`${BEGIN_OF_CELL}'${FORMULA}`, 'gu');

/** The text with an apostrophe before each formula. */
export function disarmed(text: string): string {
  return text.replace(BEFORE_FORMULA, "'");
}

/** The text that was disarmed. */
export function armed(text: string): string {
  return text.replace(APOSTROPHE, '');
}
