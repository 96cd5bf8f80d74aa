import { type AccountId, DomainError } from '@adoption-store/domain';

export interface TurnsPolicy {
  /** The most works of all accounts at a time. */
  readonly total: number;
  /** The most works of one account at a time. */
  readonly perAccount: number;
  /** Milliseconds. Work that would wait longer is refused. */
  readonly longestWait: number;
}

/** The work of one account. */
interface Line {
  running: number;
  readonly waiting: Set<() => void>;
  /** Milliseconds that the account's work has taken lately. Undefined until some has ended. */
  took: number | undefined;
}

/** How much the latest work counts in what work takes lately. */
const WEIGHT = 0.2;

/** Accounts take turns: each has a few works at a time, and the one that has waited longest begins its next. */
export class AccountTurns {
  /** In the order in which they have their next turn. An account without work has no line. */
  private readonly lines = new Map<AccountId, Line>();
  private running = 0;

  constructor(private readonly policy: TurnsPolicy) {}

  /**
   * Runs the work when it is the account's turn.
   *
   * @throws TooManyAtOnce if the work would wait too long. Then it never runs.
   */
  async run<Result>(account: AccountId, work: () => Promise<Result>): Promise<Result> {
    const line = this.lines.get(account) ?? { running: 0, waiting: new Set(), took: undefined };
    if (this.hasTurn(line)) this.begin(account, line);
    else await this.wait(account, line);
    const begun = performance.now();
    try {
      return await work();
    } finally {
      const took = performance.now() - begun;
      line.took = line.took === undefined ? took : line.took + WEIGHT * (took - line.took);
      this.end(account, line);
    }
  }

  private hasTurn({ running }: Line): boolean {
    return this.running < this.policy.total && running < this.policy.perAccount;
  }

  private begin(account: AccountId, line: Line): void {
    this.running += 1;
    line.running += 1;
    // The end of the order.
    this.lines.delete(account);
    this.lines.set(account, line);
  }

  /** Resolves when the work has begun. */
  private async wait(account: AccountId, line: Line): Promise<void> {
    const { perAccount, longestWait } = this.policy;
    if ((line.waiting.size * (line.took ?? 0)) / perAccount > longestWait) throw new TooManyAtOnce();
    this.lines.set(account, line);
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        line.waiting.delete(begin);
        this.begin(account, line);
        resolve();
      };
      const timer = setTimeout(() => {
        line.waiting.delete(begin);
        this.forgetIdle(account, line);
        reject(new TooManyAtOnce());
      }, longestWait);
      line.waiting.add(begin);
    });
  }

  private end(account: AccountId, line: Line): void {
    this.running -= 1;
    line.running -= 1;
    this.forgetIdle(account, line);
    for (const each of this.lines.values()) {
      const [next] = each.waiting;
      if (next === undefined || !this.hasTurn(each)) continue;
      next();
      return;
    }
  }

  private forgetIdle(account: AccountId, { running, waiting }: Line): void {
    if (running === 0 && waiting.size === 0) this.lines.delete(account);
  }
}

/** The account's own work is in the way: no defect of the service. */
export class TooManyAtOnce extends DomainError {
  constructor() {
    super('service_unavailable', 'too many changes of this account are under way, send fewer at the same time');
  }
}
