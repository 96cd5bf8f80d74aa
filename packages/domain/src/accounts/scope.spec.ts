import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createApplication } from '../application.js';
import { HOUR } from '../kernel/clock.js';
import { inMemoryPorts } from '../testing/index.js';
import {
  describeScopes,
  hasScope,
  InsufficientScope,
  readScopes,
  requireScope,
  scopeList,
  SCOPES,
  sharedScopes,
} from './scope.js';

const anyScope = fc.constantFrom(...SCOPES);
const anyList = fc.subarray([...SCOPES], { minLength: 1 });
const anyScopes = fc.option(anyList, { nil: undefined });

describe('a request has a scope', () => {
  it('exactly where its key and its account both name it or name none', () => {
    fc.assert(
      fc.property(anyScopes, anyScopes, anyScope, (ofKey, ofAccount, scope) => {
        const isNamed = [ofKey, ofAccount].every((scopes) => scopes === undefined || scopes.includes(scope));
        const holders = { key: { scopes: ofKey }, account: { scopes: ofAccount } };
        expect(hasScope(holders, scope)).toBe(isNamed);
        const required = () => {
          requireScope(holders, scope);
        };
        if (isNamed) expect(required).not.toThrow();
        else expect(required).toThrow(InsufficientScope);
      }),
    );
  });

  it('exactly where it is among those that both have', () => {
    fc.assert(
      fc.property(anyScopes, anyScopes, anyScope, (ofKey, ofAccount, scope) => {
        const holders = { key: { scopes: ofKey }, account: { scopes: ofAccount } };
        const shared = sharedScopes(holders);
        expect(shared?.includes(scope) ?? true).toBe(hasScope(holders, scope));
        expect(shared === undefined).toBe(ofKey === undefined && ofAccount === undefined);
      }),
    );
    expect(sharedScopes({ account: { scopes: undefined } })).toBeUndefined();
    expect(sharedScopes({ account: { scopes: ['pets:read'] } })).toEqual(['pets:read']);
  });

  it('exactly where the account has it, if there is no key', () => {
    fc.assert(
      fc.property(anyScopes, anyScope, (scopes, scope) => {
        expect(hasScope({ account: { scopes } }, scope)).toBe(scopes?.includes(scope) ?? true);
      }),
    );
  });

  it.each([
    ['the API key lacks the scope pets:write', ['pets:read'], undefined],
    ['the account lacks the scope pets:write', undefined, ['pets:read']],
    ['the account lacks the scope pets:write', ['pets:read'], ['pets:read']],
  ] as const)('otherwise it is told: %s', (message, ofKey, ofAccount) => {
    const refused = () => {
      requireScope({ key: { scopes: ofKey }, account: { scopes: ofAccount } }, 'pets:write');
    };
    expect(refused).toThrow(
      expect.objectContaining({ code: 'insufficient_scope', kind: 'forbidden', scope: 'pets:write', message }),
    );
  });
});

describe('a list of scopes', () => {
  it('is read again as it is described', () => {
    fc.assert(
      fc.property(anyScopes, (scopes) => {
        expect(readScopes(describeScopes(scopes))).toEqual(scopes);
      }),
    );
  });

  it('is in one order, however it was written', () => {
    fc.assert(
      fc.property(
        anyList.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))),
        ([list, shuffled]) => {
          expect(scopeList(shuffled)).toEqual(list);
        },
      ),
    );
  });

  it('of every scope is not the same as all: it has none that is added later', () => {
    expect(readScopes(SCOPES.join(','))).toEqual(SCOPES);
    expect(readScopes('all')).toBeUndefined();
  });

  it.each([
    ['nothing', []],
    ['an empty name', ['']],
    ['an unknown scope', ['pets:read', 'pets:delete']],
    ['a scope in capitals', ['Pets:Read']],
    ['a scope with a space', [' pets:read']],
    ['a repeated scope', ['pets:read', 'pets:read']],
    ['all beside a scope', ['all', 'pets:read']],
    ['a name of every object', ['constructor']],
  ])('may not be %s', (_what, names) => {
    const refusal = expect.objectContaining({
      code: 'invalid_parameter',
      message: expect.stringMatching(/^scopes must be some of pets:read, pets:write, /),
    });
    expect(() => scopeList(names)).toThrow(refusal);
    expect(() => readScopes(names.join(','))).toThrow(refusal);
  });
});

const EMAIL = 'dev@example.com';
const PASSWORD = 'a horse, a battery';

function setUp(options?: Parameters<typeof createApplication>[1]) {
  const application = createApplication(inMemoryPorts(), options);
  const issue = async (scopes?: readonly string[]) => {
    const { id: accountId } = await application.openAccount.execute({ email: EMAIL });
    return application.issueKey.execute({ accountId, scopes });
  };
  return { ...application, issue };
}

describe('a key', () => {
  it('asks for all scopes unless some are given', async () => {
    const { issue, authenticate } = setUp();
    expect((await authenticate.execute((await issue()).text)).key.scopes).toBeUndefined();
    const { text } = await issue(['orders:read', 'pets:read']);
    expect((await authenticate.execute(text)).key.scopes).toEqual(['pets:read', 'orders:read']);
  });

  it('is not made with a list that names no scope, or an unknown one', async () => {
    const { issue, listKeys } = setUp();
    for (const scopes of [[], ['pets']])
      await expect(issue(scopes)).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect(await listKeys.execute()).toEqual([]);
  });

  it('may ask for a scope that its account lacks, and has it once the account has', async () => {
    const { issue, holdToScopes, authenticate } = setUp();
    const { text } = await issue(['pets:read', 'pets:write']);
    await holdToScopes.execute({ email: EMAIL, scopes: ['pets:read', 'orders:read'] });
    const before = await authenticate.execute(text);
    expect(SCOPES.filter((scope) => hasScope(before, scope))).toEqual(['pets:read']);
    await holdToScopes.execute({ email: EMAIL, scopes: undefined });
    const after = await authenticate.execute(text);
    expect(SCOPES.filter((scope) => hasScope(after, scope))).toEqual(['pets:read', 'pets:write']);
  });

  it.each([undefined, ['pets:read']])('keeps its scopes (%s) when it is rotated, again and again', async (scopes) => {
    const { issue, rotateKey, authenticate } = setUp();
    let { key } = await issue(scopes);
    for (const overlap of [0, HOUR]) {
      const rotated = await rotateKey.execute({ id: key.id, overlap });
      expect((await authenticate.execute(rotated.text)).key.scopes).toEqual(scopes);
      ({ key } = rotated);
    }
  });
});

describe('an account', () => {
  it('that the operator opens has all scopes, whoever signs up has less', async () => {
    const { openAccount, signUp, signIn } = setUp({ signupScopes: ['pets:read'] });
    expect((await openAccount.execute({ email: EMAIL })).scopes).toBeUndefined();
    const other = { email: 'other@example.com', password: PASSWORD };
    expect((await signUp.execute(other)).scopes).toEqual(['pets:read']);
    expect((await signIn.execute(other))?.scopes).toEqual(['pets:read']);
  });

  it('that signs up has all scopes unless the deployment holds it to some', async () => {
    const { signUp } = setUp();
    expect((await signUp.execute({ email: EMAIL, password: PASSWORD })).scopes).toBeUndefined();
  });

  it('is found by its address, however it is written, and must exist', async () => {
    const { openAccount, holdToScopes, getAccount } = setUp();
    const { id } = await openAccount.execute({ email: EMAIL });
    const held = await holdToScopes.execute({ email: 'DEV@example.com', scopes: ['orders:read', 'pets:read'] });
    expect(held).toMatchObject({ id, scopes: ['pets:read', 'orders:read'] });
    expect(await getAccount.execute(id)).toEqual(held);
    for (const [email, scopes, code] of [
      ['nobody@example.com', ['pets:read'], 'not_found'],
      ['dev', ['pets:read'], 'invalid_parameter'],
      [EMAIL, [], 'invalid_parameter'],
      [EMAIL, ['pets'], 'invalid_parameter'],
    ] as const)
      await expect(holdToScopes.execute({ email, scopes })).rejects.toMatchObject({ code });
    expect(await getAccount.execute(id)).toEqual(held);
  });
});
