import { build, encodeIntoCompressedBase64, type Histogram } from "hdr-histogram-js";

/** Five minutes, in microseconds; longer times count as this. */
const LONGEST_US = 300_000_000;

/** Times in milliseconds, kept as HDR histogram of microseconds with three significant digits. */
export interface Times {
  readonly count: number;
  /** Counts one time; negative ones count as 0. */
  record(ms: number): void;
  /** The time that a percentage of the times do not exceed; 0 if nothing was counted. */
  percentile(percentage: number): number;
  readonly min: number;
  readonly mean: number;
  readonly max: number;
  /** Counts the times of others too. */
  add(others: Times): void;
  reset(): void;
  /** The histogram of microseconds as HDR tools read it (V2, compressed, base64). */
  encoded(): string;
}

/** Makes an empty histogram. Its memory does not grow with what it counts. */
export function createTimes(): Times {
  return new HdrTimes();
}

class HdrTimes implements Times {
  private readonly histogram: Histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: LONGEST_US,
    numberOfSignificantValueDigits: 3,
    autoResize: false,
    bitBucketSize: 32,
  });

  get count(): number {
    return this.histogram.totalCount;
  }

  record(ms: number): void {
    this.histogram.recordValue(Math.min(LONGEST_US, Math.max(0, Math.round(ms * 1_000))));
  }

  percentile(percentage: number): number {
    if (this.count === 0) return 0;
    // The upper end of a bucket may exceed the largest value in it.
    return Math.min(this.histogram.getValueAtPercentile(percentage), this.histogram.maxValue) / 1_000;
  }

  get min(): number {
    return this.count === 0 ? 0 : this.histogram.getValueAtPercentile(0) / 1_000;
  }

  get mean(): number {
    return this.count === 0 ? 0 : this.histogram.mean / 1_000;
  }

  get max(): number {
    return this.count === 0 ? 0 : this.histogram.maxValue / 1_000;
  }

  add(others: Times): void {
    this.histogram.add((others as HdrTimes).histogram);
  }

  reset(): void {
    this.histogram.reset();
  }

  encoded(): string {
    return encodeIntoCompressedBase64(this.histogram);
  }
}
