import { write, writeSync } from 'node:fs';

// POSIX writes up to this many bytes to a pipe atomically, so lines of several processes don't mix.
const PIPE_BUF = 4_096;
/** Most bytes that wait for a slow reader. Further lines are dropped. */
const BACKLOG = 16 * 1_024 * 1_024;
/** Milliseconds until a slow reader is tried again. */
const PAUSE = 100;
/** Attempts to write the last lines for a slow reader when the process exits. */
const LAST_ATTEMPTS = 10;
const LINE_FEED = 10;

/** Called when text has been written, or was dropped for that reason. */
type OnSettled = (failure?: Error) => void;

interface Chunk {
  text: string;
  /** Bytes of the text. */
  size: number;
  /** What is not written yet; undefined until the first attempt. */
  rest?: Buffer;
  readonly onSettled: OnSettled[];
}

interface Listeners {
  readonly onDrop: (reason: Error) => void;
  /** Called when a write succeeds after lines were dropped. */
  readonly onRecovery: () => void;
}

/**
 * Writes lines to a file descriptor. No caller waits for it. Lines wait for a slow reader, but those that can't be
 * written, as on a full disk, are dropped: kept ones would fill the disk again as soon as it has room.
 */
export class LineWriter {
  private readonly chunks: Chunk[] = [];
  private size = 0;
  private isWriting = false;
  private pause: NodeJS.Timeout | undefined;
  /** Whether the last byte that was written isn't the end of a line. */
  private isLineOpen = false;
  private hasGap = false;
  private droppedLines = 0;

  constructor(
    private readonly fd: number,
    private readonly listeners: Listeners,
  ) {}

  /** The number of lines that could not be written. */
  get dropped(): number {
    return this.droppedLines;
  }

  /** @param text whole lines. */
  write(text: string, onSettled?: OnSettled): void {
    const size = Buffer.byteLength(text);
    const callbacks = onSettled === undefined ? [] : [onSettled];
    if (this.size + size > BACKLOG) {
      this.drop({ text, size, onSettled: callbacks }, new Error('its reader is too slow'));
      return;
    }
    this.size += size;
    const last = this.chunks.at(-1);
    if (last !== undefined && last.rest === undefined && last.size + size <= PIPE_BUF) {
      last.text += text;
      last.size += size;
      last.onSettled.push(...callbacks);
    } else this.chunks.push({ text, size, onSettled: callbacks });
    this.writeNext();
  }

  /** Resolves when every line so far is written or dropped. */
  async flush(): Promise<void> {
    const last = this.chunks.at(-1);
    if (last === undefined) return;
    await new Promise<void>((resolve) => {
      last.onSettled.push(() => {
        resolve();
      });
    });
  }

  /** Writes what it can before the process exits. It never throws, and waits about a second for a slow reader. */
  end(): void {
    // The thread pool finishes a write that has begun.
    if (this.isWriting) this.chunks.shift();
    for (let attempts = LAST_ATTEMPTS; attempts > 0;) {
      const [chunk] = this.chunks;
      if (chunk === undefined) return;
      try {
        this.advance(chunk, writeSync(this.fd, this.restOf(chunk)));
      } catch (error) {
        // The disk is full, and a failing one may need seconds for each attempt.
        if (!isBusy(error)) {
          for (const each of this.chunks.splice(0)) this.drop(each, error as Error);
          return;
        }
        attempts -= 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE);
      }
    }
  }

  private writeNext(): void {
    const [chunk] = this.chunks;
    if (this.isWriting || this.pause !== undefined || chunk === undefined) return;
    this.isWriting = true;
    write(this.fd, this.restOf(chunk), (error, written) => {
      this.isWriting = false;
      if (isBusy(error)) this.pauseForReader();
      else if (error === null) this.advance(chunk, written);
      else {
        this.remove(chunk);
        this.drop(chunk, error);
      }
      this.writeNext();
    });
  }

  private pauseForReader(): void {
    this.pause = setTimeout(() => {
      this.pause = undefined;
      this.writeNext();
    }, PAUSE).unref();
  }

  private restOf(chunk: Chunk): Buffer {
    // After part of a line was written and its rest dropped, the next one begins on a line of its own.
    chunk.rest ??= Buffer.from(this.isLineOpen ? `\n${chunk.text}` : chunk.text);
    return chunk.rest;
  }

  private advance(chunk: Chunk, written: number): void {
    const rest = this.restOf(chunk);
    if (written > 0) this.isLineOpen = rest[written - 1] !== LINE_FEED;
    chunk.rest = rest.subarray(written);
    if (chunk.rest.length > 0) return;
    this.remove(chunk);
    for (const settle of chunk.onSettled) settle();
    if (!this.hasGap) return;
    this.hasGap = false;
    this.listeners.onRecovery();
  }

  private remove(chunk: Chunk): void {
    this.chunks.shift();
    this.size -= chunk.size;
  }

  private drop({ text, rest, onSettled }: Chunk, reason: Error): void {
    this.droppedLines += (rest?.toString() ?? text).match(/[^\n]+/g)?.length ?? 0;
    this.hasGap = true;
    for (const settle of onSettled) settle(reason);
    this.listeners.onDrop(reason);
  }
}

/** Whether the reader of a pipe is too slow. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}
