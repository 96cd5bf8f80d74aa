import { type LineEnd, type Lines, linesIn, MAX_RECORD, TOO_LONG } from './lines.js';
import { UnreadableError } from './refusals.js';

export const UNKNOWN_SHAPE = 'is not JSON of a known shape: known are an array of animals and an animal';

export interface JsonText {
  readonly line: number;
  readonly text: string;
}

/**
 * Splits a stream of JSON texts into elements, so that no text has to be held in memory. A text is an array of
 * elements, an object whose property `key` is such an array, or a single element.
 *
 * @param pieces are cut between characters, never within one.
 * @throws UnreadableError
 */
export async function* elementsOf(
  pieces: AsyncIterable<Lines>,
  key?: string,
  unknownShape = UNKNOWN_SHAPE,
): AsyncGenerator<readonly JsonText[]> {
  const splitter = new Splitter(key, unknownShape);
  for await (const { bytes, lineEnd } of pieces) yield splitter.read(bytes.toString('utf8'), lineEnd);
  splitter.end();
}

/** Replaces the elements in the text around them, so that JSON.parse can check that text. */
const PLACEHOLDER = '{}';
/** A string, a bracket, white space, or anything between those. An incomplete string doesn't match. */
const TOKENS = /"[^"\\]*(?:\\[^][^"\\]*)*"|[{}[\]]|[ \t\r\n]+|[^"{}[\] \t\r\n]+/gy;
const END_OF_SCALAR = /[\w.+-]$/;

class Splitter {
  private line = 1;
  private rest = '';
  private found: JsonText[] = [];
  private hasText = false;
  private depth = 0;
  private element: JsonText | undefined;
  /** The text around the elements, without its white space. Consecutive elements have one placeholder. */
  private frame = '';
  private frameLine = 1;
  /** The last string of the frame. It may be the name of a property. */
  private lastString = '';
  /** The depth within the array of elements; 0 outside of it. */
  private arrayDepth = 0;
  private hasArray = false;

  constructor(
    private readonly key: string | undefined,
    private readonly unknownShape: string,
  ) {}

  /** Reads the next text. Returns the elements that end in it. */
  read(text: string, lineEnd: LineEnd): readonly JsonText[] {
    this.found = [];
    this.rest += text;
    let length = 0;
    for (const [token] of this.rest.matchAll(TOKENS)) {
      if (this.element === undefined) this.readFrame(token);
      else this.readElement(this.element, token);
      this.line += linesIn(token, lineEnd);
      length += token.length;
    }
    this.rest = this.rest.slice(length);
    checkLength(this.rest, this.line);
    return this.found;
  }

  /** @throws UnreadableError if a text is not complete, or there is none. */
  end(): void {
    if (this.depth > 0 || this.rest !== '') throw new UnreadableError(this.line, 'ends within a JSON text');
    if (!this.hasText) throw new UnreadableError(1, 'has no JSON text');
  }

  private readElement({ line, text }: JsonText, token: string): void {
    this.element = { line, text: text + token };
    checkLength(this.element.text, line);
    this.depth += stepOf(token);
    if (this.depth > this.arrayDepth) return;
    this.found.push(this.element);
    this.element = undefined;
    this.frame = this.frame.endsWith(`${PLACEHOLDER},`) ? this.frame.slice(0, -1) : this.frame + PLACEHOLDER;
  }

  private readFrame(token: string): void {
    if (token.trim() === '') {
      if (END_OF_SCALAR.test(this.frame)) this.frame += ' ';
      return;
    }
    this.depth += stepOf(token);
    if (stepOf(token) > 0 && this.open(token)) return;
    if (this.depth < this.arrayDepth) this.arrayDepth = 0;
    if (this.depth < 0 || (this.frame === '' && this.depth === 0))
      throw new UnreadableError(this.line, this.unknownShape);
    if (token.startsWith('"')) this.lastString = token.slice(1, -1);
    this.frame += token;
    checkLength(this.frame, this.frameLine);
    if (this.depth === 0) this.endText();
  }

  private open(bracket: string): boolean {
    if (this.depth === 1) {
      this.hasText = true;
      this.hasArray = false;
      this.frameLine = this.line;
    }
    if (this.arrayDepth > 0 && this.depth === this.arrayDepth + 1) {
      this.element = { line: this.line, text: bracket };
      return true;
    }
    const isArray = bracket === '[' && (this.depth === 1 || (this.depth === 2 && this.lastString === this.key));
    if (isArray && this.arrayDepth === 0) {
      this.arrayDepth = this.depth;
      this.hasArray = true;
    }
    return false;
  }

  private endText(): void {
    const text = this.frame;
    this.frame = '';
    if (!this.hasArray) this.found.push({ line: this.frameLine, text });
    else if (!isFrame(text, this.key)) throw new UnreadableError(this.line, this.unknownShape);
  }
}

function stepOf(token: string): number {
  if (token === '{' || token === '[') return 1;
  return token === '}' || token === ']' ? -1 : 0;
}

function checkLength(text: string, line: number): void {
  if (text.length > MAX_RECORD) throw new UnreadableError(line, TOO_LONG);
}

function isFrame(text: string, key: string | undefined): boolean {
  try {
    const frame = JSON.parse(text) as readonly unknown[] | Readonly<Record<string, unknown>>;
    const elements = Array.isArray(frame) ? frame : (frame as Readonly<Record<string, unknown>>)[key ?? ''];
    return Array.isArray(elements) && elements.every((element) => JSON.stringify(element) === PLACEHOLDER);
  } catch {
    return false;
  }
}
