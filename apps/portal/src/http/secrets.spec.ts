import { describe, expect, it } from '@jest/globals';
import { type Purpose, keysFor, signerFor } from './secrets.js';

const PURPOSES: readonly Purpose[] = ['session', 'form', 'device'];
const [OLD, NEW] = ['the former secret of 32 characters', 'the newer secret, of 32 characters'];

describe('a signature of the portal', () => {
  it('for one purpose is invalid for another', () => {
    for (const purpose of PURPOSES) {
      const signed = signerFor(purpose, [NEW]).sign('value');
      const valid = PURPOSES.filter((each) => signerFor(each, [NEW]).unsign(signed).valid);
      expect(valid).toEqual([purpose]);
    }
  });

  it('is made with the first secret and verified with all of them', () => {
    const signed = signerFor('session', [NEW, OLD]).sign('value');
    expect(signerFor('session', [NEW]).unsign(signed)).toMatchObject({ valid: true, value: 'value' });
    expect(signerFor('session', [OLD]).unsign(signed).valid).toBe(false);
    const former = signerFor('session', [OLD]).sign('value');
    expect(signerFor('session', [NEW, OLD]).unsign(former)).toMatchObject({ valid: true, renew: true });
    expect(signerFor('session', [NEW]).unsign(former).valid).toBe(false);
  });

  it('is never made with a secret itself', () => {
    const keys = PURPOSES.flatMap((purpose) => keysFor(purpose, [OLD, NEW]));
    expect(new Set([...keys, OLD, NEW]).size).toBe(keys.length + 2);
  });
});
