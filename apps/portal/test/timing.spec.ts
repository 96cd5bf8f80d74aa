import { performance } from 'node:perf_hooks';
import { expect, it } from '@jest/globals';
import { HOUR } from '@adoption-store/domain';
import { until } from '@adoption-store/test-support';
import pg from 'pg';
import { usePortal } from './support/portal-visitor.js';

const PAIRS = 300;
const portal = usePortal();

const mailsTo = (email: string) => portal.mailer.sent.filter((mail) => mail.email === email).length;

/** How often one time is longer than another: 0.5 where nothing tells them apart, 1 or 0 where everything does. */
function areaUnderCurve(some: readonly number[], others: readonly number[]): number {
  const wins = some.flatMap((one) => others.map((other) => (one > other ? 1 : one === other ? 0.5 : 0)));
  return wins.reduce<number>((sum, win) => sum + win, 0) / wins.length;
}

it('asking for a reset is answered before anybody looks for the account, which then is mailed to', async () => {
  const { email } = await portal.signedUp();
  const visitor = portal.visitor();
  await visitor.get('/forgotten-password');
  const locking = new pg.Client(portal.databaseUrl);
  await locking.connect();
  try {
    // Nobody can read an account until that is over.
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

it('asking for a reset takes the same time whether or not there is an account', async () => {
  const { email } = await portal.signedUp();
  const visitor = portal.visitor();
  await visitor.get('/forgotten-password');
  const took: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
  for (let pair = 0; pair < PAIRS; pair += 1) {
    // Each follows each as often, as what is done after one answer is under way during the next.
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
