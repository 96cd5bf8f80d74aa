import type { Writable } from 'node:stream';

const WIDTH = 30;
/** Milliseconds between two drawings. */
const PAUSE = 100;

/** Erases the line: https://en.wikipedia.org/wiki/ANSI_escape_code */
const ERASE = '\r\u001b[K';

/** A bar on standard error, if that is a terminal. */
export class Progress {
  private readonly isShown: boolean;
  private bytes = 0;
  rows = 0;
  private drawnAt = -Infinity;

  /** @param total the bytes to come, if they are known. */
  constructor(
    private readonly stderr: Writable & { readonly isTTY?: boolean },
    private readonly total?: number,
  ) {
    this.isShown = stderr.isTTY === true;
  }

  /** Counts the bytes as they are read. */
  async *read(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of input) {
      this.bytes += chunk.length;
      yield chunk;
    }
  }

  /** Counts the rows as they pass, and draws. */
  async *count<Row>(parts: AsyncIterable<readonly Row[]>): AsyncGenerator<readonly Row[]> {
    for await (const part of parts) {
      this.rows += part.length;
      this.draw();
      yield part;
    }
    if (this.isShown) this.stderr.write(`${ERASE}${counted(this.rows, 'row')} read, storing …`);
  }

  end(): void {
    if (this.isShown) this.stderr.write(ERASE);
  }

  private draw(): void {
    const now = performance.now();
    if (!this.isShown || now < this.drawnAt + PAUSE) return;
    this.drawnAt = now;
    this.stderr.write(`${ERASE}${this.bar()}${counted(this.rows, 'row')}`);
  }

  private bar(): string {
    if (this.total === undefined || this.total === 0) return '';
    const share = Math.min(this.bytes / this.total, 1);
    const full = Math.floor(share * WIDTH);
    return `[${'#'.repeat(full)}${' '.repeat(WIDTH - full)}] ${Math.floor(share * 100)} %  `;
  }
}

export function counted(count: number, what: string): string {
  return `${grouped(count)} ${count === 1 ? what : `${what}s`}`;
}

/** As 1,000,000. */
export function grouped(count: number): string {
  return count.toLocaleString('en');
}
