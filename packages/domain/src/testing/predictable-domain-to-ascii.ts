/** The labels that the tests use, and their Punycode. */
const PUNYCODE = new Map([['bücher', 'xn--bcher-kva']]);
const ASCII = /^[\w-]*$/;

/** A `DomainToAscii` for tests only: it knows one label in Punycode. */
export function predictableDomainToAscii(name: string): string {
  const mapped = name.normalize('NFKC').toLowerCase().replaceAll('\u00ad', '').replaceAll('\u3002', '.');
  const labels = mapped.split('.').map((label) => PUNYCODE.get(label) ?? label);
  return labels.every((label) => ASCII.test(label)) ? labels.join('.') : '';
}
