import { passwordFrom } from './password.js';

/** Port: a dictionary of passwords that many people use. */
export interface CommonPasswords {
  /** Whether one of the texts, which are in lower case, is such a password. */
  includesAny(texts: readonly string[]): Promise<boolean>;
}

const FEWEST_CHARACTERS = 4;
const SERVICE_NAMES = ['adoptionstore', 'animaladoptionstore'];

const NEITHER_LETTER_NOR_DIGIT = /[^\p{L}\p{N}\p{M}]/gu;
const AROUND_THE_LETTERS = /^\P{L}+|\P{L}+$/gu;

/**
 * Whether guessing begins with such passwords: common ones, the service's name and one's own address, whatever the case,
 * with digits and punctuation around it, and repeated.
 */
export async function isGuessable(common: CommonPasswords, text: string, email: string): Promise<boolean> {
  const password = passwordFrom(text);
  if (password === undefined) return false;
  if (new Set(password).size < FEWEST_CHARACTERS) return true;
  const forms = formsOf(password);
  const known = [...SERVICE_NAMES, ...namesIn(email)];
  return known.some((name) => forms.includes(name)) || common.includesAny(forms);
}

function formsOf(password: string): readonly string[] {
  const forms = new Set([password.toLowerCase()]);
  for (const shorten of [withoutPunctuation, between, repeatedIn, between])
    for (const form of [...forms]) forms.add(shorten(form));
  forms.delete('');
  return [...forms];
}

function namesIn(email: string): readonly string[] {
  const address = email.normalize('NFKC').toLowerCase();
  const names = [address, address.slice(0, Math.max(0, address.lastIndexOf('@')))].map(withoutPunctuation);
  return [...names, ...names.map(between)].filter((name) => name !== '');
}

function withoutPunctuation(text: string): string {
  return text.replace(NEITHER_LETTER_NOR_DIGIT, '');
}

/** From the first letter to the last. */
function between(text: string): string {
  return text.replace(AROUND_THE_LETTERS, '');
}

/** The shortest text whose repetition the text is. Its last turn may be cut off, as in `1234567890123`. */
function repeatedIn(text: string): string {
  for (let length = 1; length < text.length; length += 1) {
    const unit = text.slice(0, length);
    if (unit.repeat(Math.ceil(text.length / length)).startsWith(text)) return unit;
  }
  return text;
}
