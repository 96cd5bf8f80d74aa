import { request } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { MINUTE } from '@adoption-store/domain';
import { PASSWORD, usePortal, type Visitor } from '../support/portal-visitor.js';

/** Many more than the suite runs, such as 10000, with `SESSION_ROUNDS`. */
const ROUNDS = Number(process.env['SESSION_ROUNDS'] ?? 36);
const AT_ONCE = 12;
const NEXT = 'quite another pass phrase';

const portal = usePortal();

type Person = Visitor & { readonly email: string };

/** What ends a person's sessions; who does it may go on with a session of its own. */
const ENDS = {
  'signing out': (person: Person) => person.post('/sign-out'),
  'changing the password': (person: Person) => person.post('/account/password', { current: PASSWORD, next: NEXT }),
  'resetting the password': async ({ email }: Person) => {
    await portal.application.requestPasswordReset.execute({ email });
    const token = portal.mailer.sent.findLast((mail) => mail.email === email)?.token ?? '';
    const owner = portal.visitor();
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

/** A form whose end comes only when it is told to. */
function slowForm(tab: Visitor, path: string): { finish: () => Promise<number> } {
  const body = new URLSearchParams({ _csrf: tab.token, name: 'slow' }).toString();
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

/** How many sessions live on that shouldn't. */
async function round(kind: keyof typeof ENDS, person: Person): Promise<number> {
  const tabs = Array.from({ length: 6 }, () => tabOf(person));
  const [first, second, third, form, password, slow] = tabs as [Visitor, Visitor, Visitor, Visitor, Visitor, Visitor];
  const before = person.cookies.get('session') ?? '';
  const body = slowForm(slow, '/keys');
  const signingIn = portal.visitor();
  await signingIn.get('/sign-in');
  await Promise.all([
    ENDS[kind](person),
    first.get('/keys'),
    second.get('/account'),
    third.get('/plan'),
    form.post('/keys', { name: 'laptop' }),
    password.post('/account/password', { current: 'the wrong pass phrase', next: NEXT }),
    kind === 'signing out' ? undefined : signingIn.post('/sign-in', { email: person.email, password: PASSWORD }),
  ]);
  await body.finish();
  const own = kind === 'changing the password' ? person.cookies.get('session') : undefined;
  expect(own).not.toBe(before);
  const given = [...tabs, signingIn].map(({ cookies }) => cookies.get('session')).filter((each) => each !== undefined);
  const statuses = await Promise.all(
    [...new Set([before, ...given])].map(async (session) => {
      const other = portal.visitor();
      other.cookies.set('session', session);
      return (await other.get('/account')).status;
    }),
  );
  if (own !== undefined) expect((await person.get('/account')).status).toBe(200);
  return statuses.filter((status) => status !== 303).length;
}

describe.each(Object.keys(ENDS) as (keyof typeof ENDS)[])('%s', (kind) => {
  it.each([
    ['a minute after the sessions were used', MINUTE],
    ['while they are used', 0],
  ])(
    'is final %s: no page and no form that was under way brings one back',
    async (_when, idle) => {
      let alive = 0;
      for (let done = 0; done < ROUNDS / 6; done += AT_ONCE) {
        const people = await Promise.all(Array.from({ length: AT_ONCE }, () => portal.signedUp()));
        await Promise.all(people.map((person) => person.get('/account')));
        portal.clock.advance(idle);
        alive += (await Promise.all(people.map((person) => round(kind, person)))).reduce((one, other) => one + other);
      }
      expect(alive).toBe(0);
    },
    30_000 + ROUNDS * 1_000,
  );
});
