import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createApplication } from '@adoption-store/domain';
import { type TestPortal, startPortal } from './support/portal.js';
import { usePortal, Visitor } from './support/portal-visitor.js';

const portal = usePortal({ contact: 'help@example.com' });
const nameless = usePortal();
let withoutMail: TestPortal;

beforeAll(async () => {
  const { ports, clock } = portal;
  withoutMail = await startPortal({
    application: createApplication({ ...ports, clock }),
    clock,
    contact: 'https://example.com/help',
  });
});
afterAll(() => withoutMail.close());

it('the page of the plan names the operator’s contact', async () => {
  const { text } = await (await portal.signedUp()).get('/plan');
  expect(text).toContain('To change your plan, contact <a href="mailto:help@example.com">us</a>');
  expect((await (await nameless.signedUp()).get('/plan')).text).toContain('contact the operator of this service');
});

it('where no mail can be sent, signing in says whom to ask about a forgotten password', async () => {
  const { text } = await new Visitor(withoutMail.origin, '2001:db8::1').get('/sign-in');
  expect(text).not.toContain('/forgotten-password');
  expect(text).toContain('Forgotten your password? Contact <a href="https://example.com/help">');
});

it('where no mail can be sent, the account says whom to ask for another address', async () => {
  const person = await portal.signedUp();
  const elsewhere = new Visitor(withoutMail.origin, '2001:db8::1');
  elsewhere.cookies.set('session', person.cookies.get('session') ?? '');
  const { text } = await elsewhere.get('/account');
  expect(text).toContain('To change your address, contact <a href="https://example.com/help">us</a>');
  expect(text).not.toContain('action="/account/address"');
});
