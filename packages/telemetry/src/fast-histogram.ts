type Labels = Readonly<Record<string, string>>;

/** One combination of labels. The observer keeps this object, so an observation needs no look-up and no allocation. */
export class Series {
  readonly counts: number[];
  sum = 0;

  constructor(
    readonly labels: Labels,
    private readonly bounds: readonly number[],
  ) {
    this.counts = [...bounds.map(() => 0), 0];
  }

  /** The number of observations. */
  get count(): number {
    return this.counts.reduce((sum, each) => sum + each, 0);
  }

  observe(value: number): void {
    let bucket = 0;
    // Searched from the first bucket, because most observations are small.
    while (value > (this.bounds[bucket] ?? Infinity)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

/** A Prometheus histogram with very cheap observations: prom-client's own hashes the labels each time. */
export class FastHistogram {
  readonly type = 'histogram';
  private readonly all: Series[] = [];

  constructor(
    readonly name: string,
    readonly help: string,
    private readonly bounds: readonly number[],
  ) {}

  /** A new series. No other series may have the same labels. */
  series(labels: Labels): Series {
    const series = new Series(labels, this.bounds);
    this.all.push(series);
    return series;
  }

  /** prom-client's registry calls this method on each metric. */
  async get(): Promise<object> {
    const { name, help, type } = this;
    return { name, help, type, aggregator: 'sum', values: this.all.flatMap((series) => this.valuesOf(series)) };
  }

  private valuesOf({ labels, counts, sum }: Series): object[] {
    let count = 0;
    const buckets = counts.map((each, index) => {
      count += each;
      const le = this.bounds[index] ?? '+Inf';
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: count };
    });
    const total = (suffix: string, value: number) => ({ metricName: `${this.name}_${suffix}`, labels, value });
    return [...buckets, total('sum', sum), total('count', count)];
  }
}
