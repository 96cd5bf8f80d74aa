import { afterAll, beforeAll } from '@jest/globals';
import { createPortal, type PortalOptions } from '@adoption-store/portal';
import { type Application, createApplication, instant } from '@adoption-store/domain';
import { ManualClock } from '@adoption-store/domain/testing';
import { openInfrastructure, type Query } from '@adoption-store/infrastructure';
import { createApi } from '@adoption-store/api';
import { createDatabase } from './database.js';

export const PASSWORD = 'a fairly long pass phrase';

/** Portal and API on a database of their own, served over real HTTP; only their clock is set by hand. */
export interface TestPortal {
  /** Such as `http://127.0.0.1:41234`. */
  readonly origin: string;
  /** The API's. */
  readonly api: string;
  readonly application: Application;
  readonly clock: ManualClock;
  readonly query: Query;
  /** Somebody's browser; each has an address of its own. */
  visitor(): Visitor;
  /** One that has just signed up. */
  signedUp(): Promise<Visitor & { readonly email: string }>;
  close(): Promise<void>;
}

/** The portal for a whole suite: it is there from before the first test until after the last. */
export function usePortal(options?: Partial<PortalOptions>): TestPortal {
  const portal = {} as TestPortal;
  beforeAll(async () => {
    Object.assign(portal, await startPortal(options));
  });
  afterAll(() => portal.close());
  return portal;
}

async function startPortal(options: Partial<PortalOptions> = {}): Promise<TestPortal> {
  const database = await createDatabase();
  const { ports, isReady, query, close } = await openInfrastructure({
    databaseUrl: database.url,
    dataDirectory: '/nowhere',
    poolSize: 5,
  });
  const clock = new ManualClock(instant(Date.UTC(2026, 10, 21, 12)));
  const application = createApplication({ ...ports, clock });
  const api = await createApi({ application, clock, isReady });
  await api.listen(0, '127.0.0.1');
  const apiUrl = await api.getUrl();
  const portal = await createPortal({
    application,
    clock,
    query,
    secret: 'not a secret, as it stands in a test',
    apiUrl,
    isReady,
    trustProxy: ['127.0.0.1'],
    ...options,
  });
  await portal.listen(0, '127.0.0.1');
  const origin = await portal.getUrl();
  let visitors = 0;
  const visitor = () => new Visitor(origin, `2001:db8:${(visitors += 1).toString(16)}::1`);
  return {
    origin,
    api: apiUrl,
    application,
    clock,
    query,
    visitor,
    async signedUp() {
      const newcomer = visitor();
      const email = `person-${visitors}@example.com`;
      await newcomer.get('/sign-up');
      await newcomer.post('/sign-up', { email, password: PASSWORD });
      return Object.assign(newcomer, { email });
    },
    async close() {
      await portal.close();
      await api.close();
      await close();
      await database.drop();
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A browser without JavaScript: it keeps cookies, and sends back the token of the page it has seen last. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  token = '';

  constructor(
    private readonly origin: string,
    private readonly address: string,
  ) {}

  get(path: string): Promise<Answer> {
    return this.send(path, {});
  }

  post(path: string, fields: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.send(path, { method: 'POST', body: new URLSearchParams({ _csrf: this.token, ...fields }) });
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

  /** A new key's text, as its page shows it once. */
  async issueKey(fields: Readonly<Record<string, string>> = {}): Promise<string> {
    await this.get('/keys');
    return keyIn(await this.post('/keys', fields));
  }
}

export function keyIn({ text }: Answer): string {
  return /aas_live_[0-9A-Za-z]{38}/.exec(text)?.[0] ?? '';
}
