import { performance } from 'node:perf_hooks';
import { expect, it } from '@jest/globals';
import { HOUR } from '@adoption-store/domain';
import { until } from '@adoption-store/test-support';
import pg from 'pg';
import { usePortal } from './support/portal-visitor.js';

const PAIRS = 300;
const portal = usePortal();

const mailsTo = (email: string) => portal.mailer.resets.filter((mail) => mail.email === email).length;

/** How often one time is longer than another: 0.5 if they can't be distinguished, 1 or 0 if they always can. */
function areaUnderCurve(some: readonly number[], others: readonly number[]): number {
  const wins = some.flatMap((one) => others.map((other) => (one > other ? 1 : one === other ? 0.5 : 0)));
  return wins.reduce<number>((sum, win) => sum + win, 0) / wins.length;
}

it('a reset request is answered before the account is looked up; the mail is sent afterwards', async () => {
  const { email } = await portal.signedUp();
  const visitor = portal.visitor();
  await visitor.get('/forgotten-password');
  const locking = new pg.Client(portal.databaseUrl);
  await locking.connect();
  try {
    // No process can read an account until the lock is released.
    await locking.query('BEGIN; LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE');
    for (const asked of [email, 'nobody@example.com']) {
      expect((await visitor.post('/forgotten-password', { email: asked })).status).toBe(200);
    }
    expect(mailsTo(email)).toBe(0);
  } finally {
    await locking.end();
  }
  await until(() => mailsTo(email) === 1);
});

it('a reset request takes the same time with and without an account', async () => {
  const { email } = await portal.signedUp();
  const visitor = portal.visitor();
  await visitor.get('/forgotten-password');
  const took: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
  for (let pair = 0; pair < PAIRS; pair += 1) {
    // Both orders occur equally often, because work after one response continues during the next.
    for (const which of pair % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)) {
      const asked = which === 'known' ? email : `nobody-${pair}@example.com`;
      const begun = performance.now();
      const { status } = await visitor.post('/forgotten-password', { email: asked });
      took[which].push(performance.now() - begun);
      expect(status).toBe(200);
    }
    portal.clock.advance(HOUR);
  }
  const area = areaUnderCurve(took.known, took.unknown);
  expect(area).toBeGreaterThan(0.4);
  expect(area).toBeLessThan(0.6);
});
