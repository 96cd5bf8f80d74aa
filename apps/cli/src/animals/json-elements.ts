import { type Lines, MAX_RECORD, TOO_LONG, UnreadableError } from './lines.js';

export interface JsonText {
  /** The line on which it begins. */
  readonly line: number;
  readonly text: string;
}

/**
 * The elements of JSON texts that follow one another, each as its own text, so that none of them is held whole. A text
 * may be an array, an object with an array as its property `key`, or an object that is an element itself.
 *
 * @param pieces of whole characters.
 * @throws UnreadableError
 */
export async function* elementsOf(pieces: AsyncIterable<Lines>, key: string): AsyncGenerator<readonly JsonText[]> {
  const splitter = new Splitter(key);
  for await (const { bytes } of pieces) yield splitter.read(bytes.toString('utf8'));
  splitter.end();
}

/** Stands for an element in the text around the elements, so that JSON.parse can judge that text. */
const PLACEHOLDER = '{}';
const WHITE_SPACE = /[ \t\r\n]/;
const END_OF_SCALAR = /[\w.+-]$/;

class Splitter {
  private line = 1;
  private found: JsonText[] = [];
  private hasText = false;
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  private element: JsonText | undefined;
  /** The text around the elements, without its white space. Elements that follow one another are one. */
  private frame = '';
  private frameLine = 1;
  /** The last string of the frame, which may be a property's name. */
  private lastString = '';
  /** The depth within the array of elements; 0 outside of it. */
  private arrayDepth = 0;
  private hasArray = false;

  constructor(private readonly key: string) {}

  /** The elements that end in this text. */
  read(text: string): readonly JsonText[] {
    this.found = [];
    // Where the element begins in this text.
    let begin = 0;
    for (let at = 0; at < text.length; at += 1) {
      const character = text.charAt(at);
      if (character === '\n') this.line += 1;
      if (this.element === undefined) {
        this.readFrame(character);
        begin = at;
      } else if (this.endsAt(character)) {
        this.keep(text.slice(begin, at + 1));
      }
    }
    if (this.element !== undefined) this.extend(text.slice(begin));
    return this.found;
  }

  /** @throws UnreadableError if a text is not complete, or there is none. */
  end(): void {
    if (this.depth > 0) throw new UnreadableError(this.line, 'ends within a JSON text');
    if (!this.hasText) throw new UnreadableError(1, 'has no JSON text');
  }

  /** Whether the element ends with this character. */
  private endsAt(character: string): boolean {
    if (this.isInString) this.isInString = this.stringGoesOn(character);
    else if (character === '"') this.isInString = true;
    else if (character === '{' || character === '[') this.depth += 1;
    else if (character === '}' || character === ']') this.depth -= 1;
    return this.depth === this.arrayDepth;
  }

  private stringGoesOn(character: string): boolean {
    const wasEscaped = this.isEscaped;
    this.isEscaped = !wasEscaped && character === '\\';
    return wasEscaped || character !== '"';
  }

  private extend(text: string): void {
    if (this.element === undefined) return;
    this.element = { line: this.element.line, text: this.element.text + text };
    if (this.element.text.length > MAX_RECORD) throw new UnreadableError(this.element.line, TOO_LONG);
  }

  private keep(text: string): void {
    this.extend(text);
    if (this.element !== undefined) this.found.push(this.element);
    this.element = undefined;
    this.frame = this.frame.endsWith(`${PLACEHOLDER},`) ? this.frame.slice(0, -1) : this.frame + PLACEHOLDER;
  }

  private readFrame(character: string): void {
    if (this.isInString) {
      this.isInString = this.stringGoesOn(character);
      if (this.isInString) this.lastString += character;
    } else if (WHITE_SPACE.test(character)) {
      if (!END_OF_SCALAR.test(this.frame)) return;
    } else if (character === '"') {
      this.isInString = true;
      this.lastString = '';
    } else if (character === '{' || character === '[') {
      if (this.open(character)) return;
    } else if (character === '}' || character === ']') {
      this.depth -= 1;
      if (this.depth < this.arrayDepth) this.arrayDepth = 0;
    }
    if (this.depth < 0 || (this.frame === '' && this.depth === 0)) {
      throw new UnreadableError(this.line, 'is not JSON');
    }
    this.frame += character;
    if (this.frame.length > MAX_RECORD) throw new UnreadableError(this.frameLine, TOO_LONG);
    if (this.depth === 0) this.endText();
  }

  /** Whether an element begins with this bracket. */
  private open(bracket: string): boolean {
    this.depth += 1;
    if (this.depth === 1) {
      this.hasText = true;
      this.hasArray = false;
      this.frameLine = this.line;
    }
    if (this.arrayDepth > 0 && this.depth === this.arrayDepth + 1) {
      this.element = { line: this.line, text: '' };
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
    else if (!isFrame(text, this.key)) throw new UnreadableError(this.line, 'is not JSON around the animals');
  }
}

function isFrame(text: string, key: string): boolean {
  try {
    const frame = JSON.parse(text) as readonly unknown[] | Readonly<Record<string, unknown>>;
    const elements = Array.isArray(frame) ? frame : (frame as Readonly<Record<string, unknown>>)[key];
    return Array.isArray(elements) && elements.every((element) => JSON.stringify(element) === PLACEHOLDER);
  } catch {
    return false;
  }
}
