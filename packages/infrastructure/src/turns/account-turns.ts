import { type Account, type AccountId, DomainError, kernelErrors, type PlanName } from '@adoption-store/domain';

/** Milliseconds. A request that would wait longer for its turn is refused. */
const LONGEST_WAIT = 1_000;
/** Milliseconds. A request that had to wait is answered within this time, whether or not its work has ended. */
const LONGEST_TIME = 2_000;
/** The most requests of one account that wait. A further one is refused at once. */
const MOST_WAITING = 1_000;

export interface TurnsPolicy {
  /** How much work of all accounts runs at a time, in the unit of the works' weights. */
  readonly total: number;
  /** How much work of one account runs at a time. Default: `total`. */
  readonly perAccount?: number;
}

/** The account's own works keep a further one waiting for too long. An app answers with 429. */
export class TooManyAtOnce extends Error {
  override readonly name = 'TooManyAtOnce';
  readonly code = 'too_many_at_once';

  /** The part of the message that may be kept: all of it. */
  readonly kept: string;

  constructor() {
    const message = 'too many requests of this account are under way, send fewer at the same time';
    super(message);
    this.kept = message;
  }
}

/** The account in whose line a work waits. */
export type Owner = Pick<Account, 'id' | 'plan'>;
type Work<Result> = () => Promise<Result>;

interface Waiting {
  readonly weight: number;
  readonly begin: () => void;
}

/** The works of one account. */
interface Line {
  readonly plan: PlanName;
  /** The weight of the works that run, and of those that wait. */
  running: number;
  waits: number;
  readonly waiting: Set<Waiting>;
  /** How many works have ended while the service was available, since the account has had works without a pause. */
  answered: number;
}

/**
 * Lets a limited amount of work run at a time. What waits, waits in its account's line. Lines are served in turn: plan
 * after plan, and in each plan account after account. So one account's works delay another's by few, and a person with
 * many free accounts delays only free ones. An account that is alone uses all that one account may.
 */
export class AccountTurns {
  /** An account without works has no line. */
  private readonly lines = new Map<AccountId, Line>();
  /** The lines in which works wait, by plan. Plans and lines are in the order of their turns. */
  private readonly waiting = new Map<PlanName, Set<Line>>();
  private running = 0;
  private readonly total: number;
  private readonly perAccount: number;

  constructor({ total, perAccount = total }: TurnsPolicy) {
    this.total = total;
    this.perAccount = perAccount;
  }

  /** The number of works that wait. */
  get waitingCount(): number {
    let count = 0;
    for (const lines of this.waiting.values()) for (const { waiting } of lines) count += waiting.size;
    return count;
  }

  /**
   * Runs the work when it is the account's turn. If a turn is free, that is at once.
   *
   * @throws TooManyAtOnce if the account's own works keep it waiting too long, otherwise DomainError
   * `service_unavailable`.
   */
  run<Result>(account: Owner, work: Work<Result>, weight = 1): Promise<Result> {
    return (
      this.tryRun(account, work, weight) ??
      new Promise((resolve, reject) => {
        const answering = async () => {
          const result = started(work);
          result.then(resolve, reject);
          await result;
        };
        this.wait(account, answering, reject, weight);
      })
    );
  }

  /** Runs the work at once if a turn is free and nobody else waits for it. Otherwise undefined. */
  tryRun<Result>(account: Owner, work: Work<Result>, weight = 1): Promise<Result> | undefined {
    if (this.running + weight > this.total || this.nextLine() !== undefined) return undefined;
    const line = this.lineOf(account);
    return line.running + weight > this.perAccount ? undefined : this.begin(account.id, line, work, weight);
  }

  /**
   * Waits for a turn, and then runs the work.
   *
   * @param refuse is called if the work or its turn takes too long.
   * @returns ends the wait.
   */
  wait(account: Owner, work: Work<unknown>, refuse: (error: Error) => void, weight = 1): () => void {
    const line = this.lineOf(account);
    const since = performance.now();
    const { answered } = line;
    // Its own works are the cause only if it had its share, and the service answered them meanwhile.
    const hadItsShare = line.running + line.waits >= this.shareOfEach();
    const refusal = (before: number) => (hadItsShare && line.answered > before ? new TooManyAtOnce() : unavailable());
    if (line.waiting.size >= MOST_WAITING) {
      refuse(refusal(0));
      return () => undefined;
    }
    const begin = () => {
      clearTimeout(timer);
      timer = setTimeout(
        () => {
          refuse(unavailable());
        },
        since + LONGEST_TIME - performance.now(),
      );
      const stop = () => {
        clearTimeout(timer);
      };
      this.begin(account.id, line, work, weight).then(stop, stop);
    };
    const waiting: Waiting = { weight, begin };
    const leave = () => {
      // Once the work has begun, the timer ends its time.
      if (!line.waiting.has(waiting)) return;
      clearTimeout(timer);
      this.leave(account.id, line, waiting);
    };
    let timer = setTimeout(() => {
      leave();
      refuse(refusal(answered));
    }, LONGEST_WAIT);
    this.enter(line, waiting);
    return leave;
  }

  private lineOf(account: Owner): Line {
    let line = this.lines.get(account.id);
    if (line === undefined) this.lines.set(account.id, (line = newLine(account)));
    return line;
  }

  /** How much of the work an account may expect to run at a time. */
  private shareOfEach(): number {
    return Math.min(this.perAccount, this.total / this.lines.size);
  }

  private begin<Result>(id: AccountId, line: Line, work: Work<Result>, weight: number): Promise<Result> {
    this.running += weight;
    line.running += weight;
    const end = (isAnswered: boolean) => {
      if (isAnswered) line.answered += 1;
      this.running -= weight;
      line.running -= weight;
      this.forgetIdle(id, line);
      this.serve();
    };
    const result = started(work);
    result.then(
      () => {
        end(true);
      },
      (error: unknown) => {
        // An outage or a defect of the service is no answer.
        end(error instanceof DomainError && error.kind !== 'unavailable');
      },
    );
    return result;
  }

  /** Begins works that wait, in turn, while there is room for the next one. */
  private serve(): void {
    for (let line = this.nextLine(); line !== undefined; line = this.nextLine()) {
      const [next] = line.waiting;
      if (next === undefined || this.running + next.weight > this.total) return;
      const { plan } = line;
      const lines = this.remove(line, next);
      // To the end of the order.
      this.waiting.delete(plan);
      if (lines !== undefined) this.waiting.set(plan, lines);
      if (lines?.delete(line) === true) lines.add(line);
      next.begin();
    }
  }

  /** The line whose turn is next. A line whose account runs as much as it may is left out. */
  private nextLine(): Line | undefined {
    if (this.waiting.size === 0) return undefined;
    for (const lines of this.waiting.values()) {
      for (const line of lines) {
        const [next] = line.waiting;
        if (next !== undefined && line.running + next.weight <= this.perAccount) return line;
      }
    }
    return undefined;
  }

  private enter(line: Line, waiting: Waiting): void {
    line.waiting.add(waiting);
    line.waits += waiting.weight;
    const lines = this.waiting.get(line.plan) ?? new Set();
    lines.add(line);
    this.waiting.set(line.plan, lines);
  }

  private leave(id: AccountId, line: Line, waiting: Waiting): void {
    this.remove(line, waiting);
    this.forgetIdle(id, line);
    // The one that has left may have kept the place of lighter ones.
    this.serve();
  }

  /** Returns the lines of the plan in which works still wait. */
  private remove(line: Line, waiting: Waiting): Set<Line> | undefined {
    line.waiting.delete(waiting);
    line.waits -= waiting.weight;
    const lines = this.waiting.get(line.plan);
    if (line.waiting.size === 0) lines?.delete(line);
    if (lines?.size !== 0) return lines;
    this.waiting.delete(line.plan);
    return undefined;
  }

  private forgetIdle(id: AccountId, { running, waiting }: Line): void {
    if (running === 0 && waiting.size === 0) this.lines.delete(id);
  }
}

/** Also makes a rejection of an error that is thrown before there is a promise, so that each turn ends. */
function started<Result>(work: Work<Result>): Promise<Result> {
  try {
    return work();
  } catch (error) {
    const failure = error as Error;
    return Promise.reject(failure);
  }
}

function newLine({ plan }: Owner): Line {
  return { plan: plan.name, running: 0, waits: 0, waiting: new Set(), answered: 0 };
}

function unavailable(): DomainError {
  return new DomainError(kernelErrors.service_unavailable, 'the service is busy, try again later');
}
