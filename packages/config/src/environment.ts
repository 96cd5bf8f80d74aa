import { reasonOf } from '@adoption-store/domain';
/** One setting: how its text is parsed, and its description in the table of settings. */
export interface Setting<Value> {
  /** The default; undefined makes the setting optional. */
  readonly default: string | undefined;
  /** The default if another setting is set. The description says so. */
  readonly defaultWith?: { readonly setting: string; readonly default: string };
  readonly description: string;
  /** If that setting is set, this one is required. */
  readonly requiredBy?: string;
  /** The value must be at least `less` smaller than the value of another setting. `rule` is the text of the error. */
  readonly within?: { readonly setting: string; readonly less: number; readonly rule: string };
  /** @throws Error whose message is the broken rule, such as "must be …". */
  readonly read: (text: string) => Value;
}

type ValueOf<Each> =
  Each extends Setting<infer Value> ? (Each extends { readonly default: string } ? Value : Value | undefined) : never;

/** All faults of the environment, one per line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly faults: readonly string[]) {
    super(`these settings are wrong:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
  }
}

const CONTROL = /\p{Cc}/u;

/** The exit code of a configuration error (EX_CONFIG in sysexits.h). */
export const EXIT_CONFIG = 78;

export type Values<Settings extends Readonly<Record<string, Setting<unknown>>>> = {
  readonly [Name in keyof Settings]: ValueOf<Settings[Name]>;
};

/**
 * Reads and validates the settings. A variable that is set but empty counts as not set.
 *
 * @throws ConfigError naming every fault.
 */
export function readSettings<Settings extends Readonly<Record<string, Setting<unknown>>>>(
  settings: Settings,
  environment: Readonly<Record<string, string | undefined>>,
): Values<Settings> {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  const textOf = (name: string) => (environment[name] === '' ? undefined : environment[name]);
  for (const [name, setting] of Object.entries(settings)) {
    const { requiredBy, defaultWith } = setting;
    const isWith = defaultWith !== undefined && textOf(defaultWith.setting) !== undefined;
    const text = textOf(name) ?? (isWith ? defaultWith.default : setting.default);
    if (text === undefined && requiredBy !== undefined && textOf(requiredBy) !== undefined)
      faults.push(`${name} must be set if ${requiredBy} is`);
    try {
      // Control characters could begin a new line in a header or in the log.
      if (text !== undefined && CONTROL.test(text)) throw new Error('must not have control characters');
      // Node.js has put it in place of bytes that it can't decode.
      if (text?.includes('\ufffd') === true) throw new Error('must be UTF-8, and not have U+FFFD');
      values[name] = text === undefined ? undefined : setting.read(text);
    } catch (error) {
      // The value isn't repeated: it may hold a password.
      faults.push(`${name} ${reasonOf(error)}`);
    }
  }
  for (const [name, { within }] of Object.entries(settings)) {
    // Also false if a value can't be read (NaN), because that has its own fault.
    if (within !== undefined && Number(values[name]) + within.less > Number(values[within.setting]))
      faults.push(`${name} ${within.rule}`);
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return values as Values<Settings>;
}

export function integer(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) throw new Error(`must be an integer from ${least} to ${most}`);
    return value;
  };
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds, written as `90s`, `30m`, `48h` or `7d`. */
export function duration(least: string, most: string): (text: string) => number {
  const read = (text: string) => {
    const [, amount, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
    return Number(amount) * (UNITS[unit] ?? Number.NaN);
  };
  return (text) => {
    const value = read(text);
    if (!(value >= read(least) && value <= read(most)))
      throw new Error(`must be a time from ${least} to ${most}, such as 90s, 30m, 48h or 7d`);
    return value;
  };
}

export function oneOf<const Choice extends string>(...choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const choice = choices.find((each) => each === text);
    if (choice === undefined) throw new Error(`must be one of ${choices.join(', ')}`);
    return choice;
  };
}

/** A URL in normalised form. */
export function url(...protocols: readonly string[]): (text: string) => string {
  const read = urlText(...protocols);
  return (text) => {
    const parsed = URL.canParse(read(text)) ? new URL(text) : undefined;
    if (!parsed?.hostname) throw new Error(`must be a URL that starts with ${starts(protocols)}`);
    return parsed.href;
  };
}

/** A URL as it was written, because the driver that reads it has rules of its own. */
export function urlText(...protocols: readonly string[]): (text: string) => string {
  return (text) => {
    const protocol = /^([a-z]+):\/\/./.exec(text)?.[1];
    if (protocol === undefined || !protocols.includes(protocol))
      throw new Error(`must be a URL that starts with ${starts(protocols)}`);
    return text;
  };
}

function starts(protocols: readonly string[]): string {
  return protocols.map((each) => `${each}://`).join(' or ');
}
