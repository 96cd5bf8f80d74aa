import { isUtf8 } from 'node:buffer';
import { ours, ourText, type Wording } from '@adoption-store/domain';
import { HttpError, quoted } from '../answers/error-codes.js';

/** A JSON value. Numbers written as integers are bigints; others are numbers. */
export type JsonValue = string | bigint | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [property: string]: JsonValue;
}

export const MAX_DEPTH = 16;
// No int64 has more characters. A longer integer isn't parsed as a bigint: the cost grows faster than its length.
const MAX_INTEGER_LENGTH = 20;

const ZERO = 0x30;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
// Characters from U+0020 on except the quote and the backslash, and escapes, which JSON.parse validates.
const STRING = /"[ !#-[\]-\uffff]*(?:\\.[ !#-[\]-\uffff]*)*"/y;
// Characters that a string may contain only escaped, or not at all.
const SPECIAL = /[^ !#-[\]-\uffff]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Parses the JSON text of a body in one pass, so that the cost is always linear. It is stricter than JSON.parse:
 * integers keep all digits; duplicate keys, prototype keys, U+0000, lone surrogates, bytes that aren't UTF-8, and
 * nesting deeper than 16 levels are refused.
 *
 * @throws HttpError `invalid_json`, naming the fault.
 */
export function parseJson(bytes: Buffer): JsonValue {
  if (!isUtf8(bytes)) throw refusal(ours`is not valid UTF-8`);
  return new Parser(bytes.toString('utf8')).document();
}

class Parser {
  private position: number;

  constructor(private readonly text: string) {
    // RFC 8259 §8.1: one byte order mark may be ignored.
    this.position = text.startsWith('\ufeff') ? 1 : 0;
  }

  document(): JsonValue {
    const value = this.value(1);
    if (this.position < this.text.length) throw this.unexpected();
    return value;
  }

  /** A value and the white space around it. */
  private value(depth: number): JsonValue {
    this.skipWhiteSpace();
    const value = this.bareValue(depth);
    this.skipWhiteSpace();
    return value;
  }

  private bareValue(depth: number): JsonValue {
    switch (this.text[this.position]) {
      case '{':
        return this.object(depth);
      case '[':
        return this.array(depth);
      case '"':
        return this.string();
      case 't':
        return this.literal('true', true);
      case 'f':
        return this.literal('false', false);
      case 'n':
        return this.literal('null', null);
      default:
        return this.number();
    }
  }

  private object(depth: number): JsonObject {
    this.enter(depth);
    const object: JsonObject = {};
    this.skipWhiteSpace();
    if (this.take('}')) return object;
    do {
      this.skipWhiteSpace();
      const key = this.string();
      this.skipWhiteSpace();
      if (!this.take(':')) throw this.unexpected();
      const value = this.value(depth + 1);
      if (Object.hasOwn(object, key)) throw refusal(ours`has the property ${quoted(key)} twice`);
      if (isPrototypeKey(key, value)) throw refusal(ours`must not have a property ${quoted(key)}`);
      object[key] = value;
    } while (this.take(','));
    if (!this.take('}')) throw this.unexpected();
    return object;
  }

  private array(depth: number): JsonValue[] {
    this.enter(depth);
    const array: JsonValue[] = [];
    this.skipWhiteSpace();
    if (this.take(']')) return array;
    do array.push(this.value(depth + 1));
    while (this.take(','));
    if (!this.take(']')) throw this.unexpected();
    return array;
  }

  private string(): string {
    if (this.text[this.position] !== '"') throw this.unexpected();
    const end = this.text.indexOf('"', this.position + 1);
    const plain = this.text.slice(this.position + 1, end);
    if (end !== -1 && !SPECIAL.test(plain)) {
      this.position = end + 1;
      return plain;
    }
    const literal = this.match(STRING)?.[0];
    if (literal === undefined) throw this.unexpected();
    return literal.includes('\\') ? this.unescape(literal) : literal.slice(1, -1);
  }

  private unescape(literal: string): string {
    let value: string;
    try {
      value = JSON.parse(literal) as string;
    } catch {
      throw refusal(ours`is not JSON: bad escape in the string before position ${this.position}`);
    }
    if (value.includes('\0')) throw refusal(ours`must not contain U+0000`);
    if (LONE_SURROGATE.test(value)) throw refusal(ours`must not contain a lone surrogate`);
    return value;
  }

  private number(): bigint | number {
    const digit = this.text.charCodeAt(this.position) - ZERO;
    const next = this.text[this.position + 1];
    // A fast path for one-digit integers. They are the most common numbers, and a body has room for most of them.
    if (digit >= 0 && digit <= 9 && (next === ',' || next === ']' || next === '}')) {
      this.position += 1;
      return BigInt(digit);
    }
    const match = this.match(NUMBER);
    if (!match) throw this.unexpected();
    const [text, fraction, exponent] = match;
    const isInteger = fraction === undefined && exponent === undefined && text.length <= MAX_INTEGER_LENGTH;
    return isInteger ? BigInt(text) : Number(text);
  }

  private literal<Value extends boolean | null>(word: string, value: Value): Value {
    if (!this.text.startsWith(word, this.position)) throw this.unexpected();
    this.position += word.length;
    return value;
  }

  private enter(depth: number): void {
    if (depth > MAX_DEPTH) throw refusal(ours`must not be nested deeper than ${MAX_DEPTH} levels`);
    this.position += 1;
  }

  private take(character: string): boolean {
    if (this.text[this.position] !== character) return false;
    this.position += 1;
    return true;
  }

  private skipWhiteSpace(): void {
    let code = this.text.charCodeAt(this.position);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      this.position += 1;
      code = this.text.charCodeAt(this.position);
    }
  }

  private match(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.position;
    const match = sticky.exec(this.text);
    if (match) this.position = sticky.lastIndex;
    return match;
  }

  private unexpected(): HttpError {
    const what = this.position < this.text.length ? 'unexpected character' : 'unexpected end';
    return refusal(ours`is not JSON: ${ourText(what)} at position ${this.position}`);
  }
}

function isPrototypeKey(key: string, value: JsonValue): boolean {
  if (key === '__proto__') return true;
  return key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}

function refusal(rule: Wording): HttpError {
  return new HttpError('invalid_json', ours`the body ${rule}`);
}
