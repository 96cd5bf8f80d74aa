import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Histogram, type Metric, Registry } from 'prom-client';
import { FastHistogram } from './fast-histogram.js';

const BUCKETS = [0.001, 0.25, 1, 10];

it("reports the same to Prometheus as prom-client's histogram, for any observations", async () => {
  const value = fc.oneof(fc.constantFrom(0, ...BUCKETS, 11), fc.double({ min: 0, max: 20, noNaN: true }));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom('200', '503'), value)), async (observations) => {
      const [fast, theirs] = [new Registry(), new Registry()];
      const histogram = new FastHistogram('seconds', 'How long', BUCKETS);
      fast.registerMetric(histogram as unknown as Metric);
      const reference = new Histogram({
        name: 'seconds',
        help: 'How long',
        buckets: BUCKETS,
        labelNames: ['status'],
        registers: [theirs],
      });
      const series = new Map(['200', '503'].map((status) => [status, histogram.series({ status })]));
      for (const status of series.keys()) reference.zero({ status });
      for (const [status, seconds] of observations) {
        series.get(status)?.observe(seconds);
        reference.observe({ status }, seconds);
      }
      expect(linesOf(await fast.metrics())).toEqual(linesOf(await theirs.metrics()));
    }),
  );
});

const linesOf = (text: string) => text.split('\n').filter(Boolean).sort();
