import { randomBytes } from 'node:crypto';
import { expect } from '@jest/globals';

export const PASSWORD = 'a fairly long pass phrase';

/** A visitor who has just signed up. */
export type Person = Visitor & { readonly email: string };

/** Browsers for one portal, which uses X-Forwarded-For. */
export interface Browsers {
  /** A new browser with its own address. */
  visitor(): Visitor;
  signedUp(email?: string): Promise<Person>;
}

/** The token of the mailed link with which the account of an address begins. */
export type SignUpToken = (email: string) => Promise<string>;

/** Addresses and accounts that no other suite at the same portal has. */
export function browsersAt(origin: string, signUpToken: SignUpToken): Browsers {
  const suite = randomBytes(4).toString('hex');
  let visitors = 0;
  const visitor = () => {
    visitors += 1;
    return new Visitor(origin, `2001:${suite.slice(0, 4)}:${suite.slice(4)}:${visitors.toString(16)}::1`);
  };
  return {
    visitor,
    async signedUp(email = `person-${suite}-${visitors + 1}@example.com`) {
      const newcomer = visitor();
      const form = await newcomer.get('/sign-up');
      await newcomer.post('/sign-up', { email, password: PASSWORD });
      if (!form.text.includes('name="password"'))
        await newcomer.fillIn('/finish-sign-up', { token: await signUpToken(email), password: PASSWORD });
      return Object.assign(newcomer, { email });
    },
  };
}

/** A form's fields. Several boxes of one name are a list. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** The scopes that a page has boxes for, and those whose box is checked. */
export function boxesIn({ text }: Answer): Record<'offered' | 'checked', readonly string[]> {
  const boxes = [...text.matchAll(/<input type="checkbox"[^>]*name="scopes" value="([^"]+)"( checked)?/g)];
  const names = (found: typeof boxes) => found.map(([, name = '']) => name);
  return { offered: names(boxes), checked: names(boxes.filter(([, , checked]) => checked !== undefined)) };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The address that it leads to. Empty for a page. */
  readonly location: string;
  readonly text: string;
}

/** An answer that leads to that page, as after a form was taken. */
export const redirectTo = (location: string) => ({ status: 303, location });

/** A form or a filter that is shown again, with that text. */
export const refusal = (text: string) => ({ status: 422, text: expect.stringContaining(text) as unknown });

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

  /** Opens the page of a form, and sends the form. Those of an account and of a key are on its page. */
  async fillIn(path: string, fields?: Fields): Promise<Answer> {
    await this.get(path.replace(/^(\/account|\/keys\/\d+)\/(?!rotate|revoke).*/, '$1'));
    return this.post(path, fields);
  }

  async send(path: string, init: RequestInit): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = new Headers(init.headers);
    headers.set('cookie', cookie);
    headers.set('x-forwarded-for', this.address);
    const response = await fetch(this.origin + path, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    // Without the places where a line may end within a word.
    const text = (await response.text()).replaceAll('<wbr>', '');
    this.token = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? this.token;
    const { status, headers: sent } = response;
    return { status, headers: sent, location: sent.get('location') ?? '', text };
  }

  /** Creates a key, of full access without `scopes`, and returns its text, which the page shows once. */
  async issueKey(fields: Fields = {}): Promise<string> {
    const access = fields['scopes'] === undefined ? 'full' : 'restricted';
    return keyIn(await this.fillIn('/keys', { access, ...fields }));
  }
}

export function keyIn({ text }: Answer): string {
  return /aas_live_[0-9A-Za-z]{38}/.exec(text)?.[0] ?? '';
}

/** The addresses of the pages before and after this one of a list. */
export function linkIn({ text }: Pick<Answer, 'text'>, rel: 'next' | 'prev'): string | undefined {
  return new RegExp(`href="([^"]+)" rel="${rel}"`).exec(text)?.[1]?.replaceAll('&amp;', '&');
}

/** All that matches on the pages of a list, in order, page by page. */
export async function walk(visitor: Visitor, path: string, pattern: RegExp): Promise<readonly (readonly string[])[]> {
  const pages: string[][] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const page = await visitor.get(next);
    pages.push([...page.text.matchAll(pattern)].map(([, each = '']) => each));
    next = linkIn(page, 'next');
  }
  return pages;
}
