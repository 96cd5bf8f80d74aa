/** Longer texts of a file are cut before they are held for the report and printed. */
const LONGEST_SHOWN = 100;

/** The file can't be read from this line on. */
export class UnreadableError extends Error {
  constructor(
    readonly line: number,
    reason: string,
  ) {
    super(reason);
  }
}

export class RowError extends Error {}

/** A value of the file as a message shows it. */
export function quoted(value: unknown): string {
  return shortened(JSON.stringify(value ?? null));
}

export function shortened(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}
