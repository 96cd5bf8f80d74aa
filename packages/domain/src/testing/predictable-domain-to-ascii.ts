/** The labels that the tests use, and their Punycode. */
const PUNYCODE = new Map([['bücher', 'xn--bcher-kva']]);
const ASCII = /^[\w-]*$/;
const NUMBER = /^(0x[\da-f]*|\d+)$/;

/** A `DomainToAscii` for tests only: it knows one label in Punycode, and one IP address. */
export function predictableDomainToAscii(name: string): string {
  const mapped = name.normalize('NFKC').toLowerCase().replaceAll('\u00ad', '').replaceAll('\u3002', '.');
  const labels = mapped.split('.').map((label) => PUNYCODE.get(label) ?? label);
  if (NUMBER.test(labels.at(-1) ?? '')) return '127.0.0.1';
  return labels.every((label) => ASCII.test(label)) ? labels.join('.') : '';
}
