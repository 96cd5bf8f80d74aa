import { afterAll, beforeAll } from '@jest/globals';
import { type Application, instant } from '@adoption-store/domain';
import { ManualClock } from '@adoption-store/domain/testing';
import type { PortalOptions } from '../../src/create-portal.js';
import { type TestPortal, startPortal } from './portal.js';

export const PASSWORD = 'a fairly long pass phrase';

/** The portal with visitors. Only its clock is set by hand. */
export interface VisitedPortal extends TestPortal {
  readonly application: Application;
  readonly clock: ManualClock;
  /** A new browser with its own address. */
  visitor(): Visitor;
  /** A visitor who has just signed up. */
  signedUp(): Promise<Visitor & { readonly email: string }>;
}

/** Starts the portal before a suite's first test and stops it after the last. */
export function usePortal(options?: Partial<PortalOptions>): VisitedPortal {
  const portal = {} as VisitedPortal;
  beforeAll(async () => {
    Object.assign(portal, await startVisitedPortal(options));
  });
  afterAll(() => portal.close());
  return portal;
}

async function startVisitedPortal(options: Partial<PortalOptions> = {}): Promise<VisitedPortal> {
  const clock = new ManualClock(instant(Date.UTC(2026, 10, 21, 12)));
  const portal = await startPortal({ clock, trustProxy: ['127.0.0.1'], ...options });
  let visitors = 0;
  const visitor = () => new Visitor(portal.origin, `2001:db8:${(visitors += 1).toString(16)}::1`);
  return {
    ...portal,
    clock,
    visitor,
    async signedUp() {
      const newcomer = visitor();
      const email = `person-${visitors}@example.com`;
      await newcomer.get('/sign-up');
      await newcomer.post('/sign-up', { email, password: PASSWORD });
      return Object.assign(newcomer, { email });
    },
  };
}

/** A form's fields. Several boxes of one name are a list. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** The scopes that a page has boxes for, and those whose box is checked. */
export function boxesIn({ text }: Answer): {
  readonly offered: readonly string[];
  readonly checked: readonly string[];
} {
  const boxes = [...text.matchAll(/<input type="checkbox"[^>]*name="scopes" value="([^"]+)"( checked)?/g)];
  const names = (found: typeof boxes) => found.map(([, name = '']) => name);
  return { offered: names(boxes), checked: names(boxes.filter(([, , checked]) => checked !== undefined)) };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A browser without JavaScript. It stores cookies, and sends back the CSRF token of the last page. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  token = '';

  constructor(
    private readonly origin: string,
    private address: string,
  ) {}

  /** The same browser with another address. */
  from(address: string): this {
    this.address = address;
    return this;
  }

  get(path: string): Promise<Answer> {
    return this.send(path, {});
  }

  post(path: string, fields: Fields = {}): Promise<Answer> {
    const pairs = Object.entries({ _csrf: this.token, ...fields }).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name, each]),
    );
    return this.send(path, { method: 'POST', body: new URLSearchParams(pairs) });
  }

  async send(path: string, init: RequestInit): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, 'x-forwarded-for': this.address };
    const response = await fetch(this.origin + path, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await response.text();
    this.token = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? this.token;
    return { status: response.status, headers: response.headers, text };
  }

  /** Creates a key and returns its text, which the page shows once. */
  async issueKey(fields: Fields = {}): Promise<string> {
    const form = await this.get('/keys');
    return keyIn(await this.post('/keys', { scopes: boxesIn(form).checked, ...fields }));
  }
}

export function keyIn({ text }: Answer): string {
  return /aas_live_[0-9A-Za-z]{38}/.exec(text)?.[0] ?? '';
}
