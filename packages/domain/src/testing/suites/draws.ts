import { reasonOf } from '../../kernel/reason-of.js';
import { INT64_MAX, INT64_MIN } from '../../kernel/int64.js';
import { hasVisible } from '../../kernel/text.js';

/** Integers at which machines, formats and drivers change how they store them. */
const EDGES = [INT64_MIN, INT64_MIN + 1n, -1n, 0n, 1n, 2n ** 31n, 2n ** 53n, 2n ** 53n + 1n, INT64_MAX - 1n, INT64_MAX];
/** Texts that a statement, a format or an object could take for a part of itself. */
const SUSPECTS = [
  "'",
  '"',
  '\\',
  '\\n',
  '%_',
  '$1',
  '--',
  ';',
  '{}',
  'null',
  '__proto__',
  '\r\n',
  '\u2028',
  'é',
  'e\u0301',
];

/** Drawn values: any that the domain admits, and those that often go wrong more often. */
export class Draws {
  constructor(private readonly random: () => number) {}

  /** From `min` to `max`, both included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.random() * (max - min + 1));
  }

  int64(): bigint {
    if (this.isOneOf(3)) return this.pick(EDGES);
    const bits = [0, 1, 2, 3].map(() => BigInt(this.integer(0, 0xffff)));
    return BigInt.asIntN(
      64,
      bits.reduce((sum, each) => (sum << 16n) | each),
    );
  }

  /** Any text that the domain stores, of at least one code point. */
  text(longest: number): string {
    return this.many(1, longest, () => this.character())
      .join('')
      .slice(0, longest)
      .replace(/\p{Surrogate}/gu, '?');
  }

  /** A text that the domain takes as a name. */
  name(longest: number): string {
    const text = this.text(longest - 1);
    return hasVisible(text) ? text : `${text}L`;
  }

  pick<Value>(values: readonly [Value, ...Value[]] | readonly Value[]): Value {
    const value = values[this.integer(0, values.length - 1)];
    if (value === undefined) throw new Error('there is nothing to pick from');
    return value;
  }

  many<Value>(least: number, most: number, draw: (index: number) => Value): Value[] {
    return Array.from({ length: this.integer(least, most) }, (_, index) => draw(index));
  }

  /** True once in so many times. */
  isOneOf(times: number): boolean {
    return this.integer(1, times) === 1;
  }

  private character(): string {
    switch (this.integer(0, 3)) {
      case 0:
        return this.pick(SUSPECTS);
      case 1:
        return String.fromCodePoint(this.integer(0x1, 0x7f));
      case 2:
        return String.fromCodePoint(this.integer(0x80, 0xffff));
      default:
        return String.fromCodePoint(this.integer(0x10000, 0x10ffff));
    }
  }
}

/** Checks so many drawn values. The error of a failure holds the value, so that it can be tried again. */
export async function checkDrawn<Value>(
  times: number,
  draw: () => Value,
  check: (value: Value) => Promise<void>,
): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const value = draw();
    try {
      await check(value);
    } catch (error) {
      const reason = reasonOf(error);
      throw new Error(`${reason}\n\nof the drawn value ${inWords(value)}`, { cause: error });
    }
  }
}

/** As JSON has it; integers of 64 bits end in n. */
function inWords(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part));
}
