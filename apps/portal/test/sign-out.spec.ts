import { request } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { MINUTE } from '@adoption-store/domain';
import { PASSWORD, usePortal, type Visitor } from './support/portal-visitor.js';

/** Rounds. `SESSION_ROUNDS` can be much larger, such as 10000. */
const ROUNDS = Number(process.env['SESSION_ROUNDS'] ?? 12);
const AT_ONCE = 6;
const NEXT = 'quite another pass phrase';

const portal = usePortal();

type Person = Visitor & { readonly email: string };

/** The actions that end a person's sessions. The browser that does it may continue with a new session. */
const ENDS = {
  'signing out': (person: Person) => person.post('/sign-out'),
  'signing out everywhere': (person: Person) => person.post('/account/sign-out-everywhere'),
  'changing the password': (person: Person) => person.post('/account/password', { current: PASSWORD, next: NEXT }),
  'resetting the password': async ({ email }: Person) => {
    const owner = portal.visitor();
    await portal.application.requestPasswordReset.execute({ email });
    const token = portal.mailer.resets.findLast((mail) => mail.email === email)?.token ?? '';
    await owner.get('/reset-password');
    return owner.post('/reset-password', { token, password: NEXT });
  },
} as const;

/** Another tab of the same browser. */
function tabOf(person: Person): Visitor {
  const tab = portal.visitor();
  for (const [name, value] of person.cookies) tab.cookies.set(name, value);
  tab.token = person.token;
  return tab;
}

/** A form that is sent completely only when `finish` is called. */
function slowForm(tab: Visitor, path: string): { finish: () => Promise<number> } {
  const body = new URLSearchParams({ _csrf: tab.token, name: 'slow', scopes: 'pets:read' }).toString();
  const sent = request(`${portal.origin}${path}`, {
    method: 'POST',
    headers: {
      cookie: [...tab.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': body.length,
    },
  });
  const answered = new Promise<number>((resolve, reject) => {
    sent.once('error', reject).once('response', (response) => {
      for (const line of response.headers['set-cookie'] ?? []) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        tab.cookies.set(name, value);
      }
      response.resume().once('end', () => {
        resolve(response.statusCode ?? 0);
      });
    });
  });
  sent.write(body.slice(0, 10));
  return {
    finish: () => {
      sent.end(body.slice(10));
      return answered;
    },
  };
}

/** Repeats until the status isn't the one of a busy service. */
async function statusOf(send: () => Promise<{ readonly status: number }>): Promise<number> {
  for (let tries = 0; tries < 20; tries += 1) {
    const { status } = await send();
    if (status !== 503) return status;
  }
  throw new Error('the portal answered 503 twenty times');
}

/** The sessions that wrongly still work. Undefined if the portal was too busy and answered so. */
async function round(kind: keyof typeof ENDS, person: Person): Promise<readonly string[] | undefined> {
  const tabs = Array.from({ length: 6 }, () => tabOf(person));
  const [first, second, third, form, password, slow] = tabs as [Visitor, Visitor, Visitor, Visitor, Visitor, Visitor];
  const before = person.cookies.get('session') ?? '';
  const body = slowForm(slow, '/keys');
  const signingIn = portal.visitor();
  await signingIn.get('/sign-in');
  const [ended] = await Promise.all([
    ENDS[kind](person),
    first.get('/keys'),
    second.get('/account'),
    third.get('/plan'),
    form.post('/keys', { name: 'laptop', scopes: 'pets:read' }),
    password.post('/account/password', { current: 'the wrong pass phrase', next: NEXT }),
    kind.startsWith('signing out')
      ? undefined
      : signingIn.post('/sign-in', { email: person.email, password: PASSWORD }),
  ]);
  await body.finish();
  if (ended.status === 503) return undefined;
  expect(ended.status).toBe(303);
  if (kind === 'changing the password') {
    expect(person.cookies.get('session')).not.toBe(before);
    expect(await statusOf(() => person.get('/account'))).toBe(200);
  }
  const given = [...tabs, signingIn].map(({ cookies }) => cookies.get('session')).filter((each) => each !== undefined);
  const alive: string[] = [];
  for (const session of new Set([before, ...given])) {
    const other = portal.visitor();
    other.cookies.set('session', session);
    const status = await statusOf(() => other.get('/account'));
    if (status !== 303) alive.push(`${kind}: ${status}`);
  }
  return alive;
}

describe.each(Object.keys(ENDS) as (keyof typeof ENDS)[])('%s', (kind) => {
  it.each([
    ['a minute after the sessions were used', MINUTE],
    ['while they are used', 0],
  ])(
    'is final %s: no page and no form that was under way brings one back',
    async (_when, idle) => {
      const alive: string[] = [];
      let [done, refused] = [0, 0];
      while (done < ROUNDS / 6) {
        const people = await Promise.all(Array.from({ length: AT_ONCE }, () => portal.signedUp()));
        await Promise.all(people.map((person) => person.get('/account')));
        portal.clock.advance(idle);
        for (const found of await Promise.all(people.map((person) => round(kind, person)))) {
          if (found === undefined) refused += 1;
          else done += 1;
          alive.push(...(found ?? []));
        }
        expect(refused).toBeLessThan(ROUNDS / 6);
      }
      expect(alive).toEqual([]);
    },
    60_000 + ROUNDS * 1_000,
  );
});
