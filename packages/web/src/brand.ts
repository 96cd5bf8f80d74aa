import { readFileSync } from 'node:fs';

/** The store's sign, as SVG in HTML. */
export const SIGN =
  '<svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">' +
  '<ellipse cx="5" cy="11" rx="2.2" ry="2.9"/><ellipse cx="9.5" cy="6.2" rx="2.3" ry="3.2"/>' +
  '<ellipse cx="14.5" cy="6.2" rx="2.3" ry="3.2"/><ellipse cx="19" cy="11" rx="2.2" ry="2.9"/>' +
  '<path d="M12 11.2c-3 0-6.3 3.6-6.3 6.7 0 1.9 1.3 2.9 2.9 2.9 1.4 0 2.1-.7 3.4-.7s2 .7 3.4.7c1.6 0 2.9-1 2.9-2.9 0-3.1-3.3-6.7-6.3-6.7z"/>' +
  '</svg>';

/** The style sheet before those of the portal and of the reference page: colours, font, links, texts, forms, code, header. */
export function readBaseStyle(): Buffer {
  return readFileSync(new URL('../public/base.css', import.meta.url));
}
