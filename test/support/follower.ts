import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, isSuccess } from './load.js';

/** Milliseconds between two pages. */
const PAUSE = 20;

interface Event {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly id: number | string };
}

/** Follows the events of an account. Its cursor is that of the last page, whichever process answers the next. */
export class Follower {
  readonly events: Event[] = [];
  readonly failures: Answer[] = [];
  private path = '/v1/events?from=now&limit=100';
  private isStopping = false;
  private following: Promise<void> | undefined;

  constructor(
    /** Where it asks. It may be set while it follows. */
    public origin: string,
    private readonly key: string,
  ) {}

  /** Begins with what happens from now on. */
  async start(): Promise<this> {
    await this.readPage();
    this.following = this.follow();
    return this;
  }

  /** Stops when it has all events. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await this.following;
    for (let read = -1; read < this.events.length;) {
      read = this.events.length;
      await this.readPage();
    }
  }

  private async follow(): Promise<void> {
    while (!this.isStopping) {
      await delay(PAUSE);
      await this.readPage();
    }
  }

  private async readPage(): Promise<void> {
    const begin = performance.now();
    const headers = { authorization: `Bearer ${this.key}` };
    const response = await fetch(`${this.origin}${this.path}`, { headers }).catch(() => Response.error());
    const body = await response.text();
    const { status } = response;
    const retryAfter = response.headers.get('retry-after') ?? undefined;
    const answer = { what: 'read', status, retryAfter, body, begin, end: performance.now() } as const;
    if (!isSuccess(answer)) {
      this.failures.push(answer);
      return;
    }
    this.events.push(...(JSON.parse(body) as readonly Event[]));
    const [, next = ''] = /<([^>]+)>/.exec(response.headers.get('link') ?? '') ?? [];
    const { pathname, search } = new URL(next);
    this.path = pathname + search;
  }
}
