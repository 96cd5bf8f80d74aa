import { type AccountId, DomainError } from '@adoption-store/domain';

export interface TurnsPolicy {
  /** The most requests of all accounts that run at a time. */
  readonly total: number;
  /** The most requests of one account that run at a time. */
  readonly perAccount: number;
  /** Milliseconds. A request that would wait longer is refused. */
  readonly longestWait: number;
}

/** The requests of one account. */
interface Line {
  running: number;
  readonly waiting: Set<() => void>;
  /** Milliseconds: the moving average of how long the account's requests take. Undefined until one has ended. */
  took: number | undefined;
}

/** The weight, 0 to 1, of the latest request in the moving average. */
const WEIGHT = 0.2;

/**
 * Shares the capacity fairly: each account runs a few requests at a time, and accounts begin their next ones in turn.
 */
export class AccountTurns {
  /** In the order in which the accounts begin their next requests. An account without requests has no line. */
  private readonly lines = new Map<AccountId, Line>();
  private running = 0;

  constructor(private readonly policy: TurnsPolicy) {}

  /**
   * Runs the work when it is the account's turn.
   *
   * @throws TooManyAtOnce if the work would wait too long. Then it isn't run.
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
    // Moves the account to the end of the order.
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

/** The account's own requests are the cause, so this isn't logged as a defect of the service. */
export class TooManyAtOnce extends DomainError {
  constructor() {
    super('service_unavailable', 'too many changes of this account are under way, send fewer at the same time');
  }
}
