/** API keys, also as a part of a longer text. */
const KEYS = /aas_[a-z]+_\w*/g;

/** A client's text with its API keys removed, which a careless client may have put into it. */
export function redactKeys(text: string): string {
  return text.includes('aas_') ? text.replace(KEYS, 'redacted') : text;
}
