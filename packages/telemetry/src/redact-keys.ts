/** API keys, also as a part of a longer text. */
const KEYS = /aas_[a-z]+_\w*/g;

/** The text of a client without the API keys that a careless one may have put into it. */
export function redactKeys(text: string): string {
  return text.includes('aas_') ? text.replace(KEYS, 'redacted') : text;
}
