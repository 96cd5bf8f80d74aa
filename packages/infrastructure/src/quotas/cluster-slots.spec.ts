import { describe, expect, it } from '@jest/globals';
import slotOf from 'cluster-key-slot';
import { keysInSlots } from './cluster-slots.js';

const [one, other] = [
  ['10.0.0.1', 6379, 'id'],
  ['10.0.0.2', 6379, 'id'],
];

describe('the keys that probe a cluster', () => {
  it('are one for each primary, however its slots are spread', () => {
    const keys = keysInSlots('probe', [
      [0, 99, one],
      [100, 100, other, ['a replica']],
      [101, 16_383, one],
    ]);
    expect(keys).toHaveLength(2);
    expect(keys.map(slotOf)).toContain(100);
    expect(keysInSlots('probe', [[0, 16_383, one]])).toEqual(['probe:1']);
  });

  it('are none as long as a slot has no primary', () => {
    const keys = () =>
      keysInSlots('probe', [
        [0, 99, one],
        [102, 16_383, other],
      ]);
    expect(keys).toThrow("2 of the cluster's slots have no primary");
    expect(() => keysInSlots('probe', [])).toThrow('16384');
  });
});
