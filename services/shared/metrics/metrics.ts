// What a process counts of itself. A count is a number in memory: it costs tens of nanoseconds when something
// happens, and becomes text only when somebody asks.

/** Most series of one metric: values of labels beyond that are counted together, as "other". */
export const MAX_SERIES = 8_192;
/** What stands for the values of labels that are too many. */
export const OTHER = "other";

/** The values of a metric's labels, in the order of its labels. */
export type LabelValues = readonly string[];

/** The counts of a histogram: of each bucket on its own, with one more for what is above all bounds. */
export interface Distribution {
  readonly counts: readonly number[];
  readonly sum: number;
}

/** A metric as it is at a moment; plain JSON, so that it passes between processes. */
export interface Snapshot {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly labels: readonly string[];
  /** The upper bounds of a histogram's buckets. */
  readonly bounds?: readonly number[];
  readonly series: readonly { readonly labels: LabelValues; readonly value: number | Distribution }[];
}

/** One number that only grows. */
export class Count {
  value = 0;

  add(more = 1): void {
    this.value += more;
  }
}

/** How often what took how long. */
export class Durations {
  readonly counts: number[];
  sum = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  add(seconds: number): void {
    let at = 0;
    while (at < this.bounds.length && seconds > (this.bounds[at] as number)) at++;
    (this.counts[at] as number)++;
    this.sum += seconds;
  }
}

/** A metric with one value for each combination of its labels' values. */
class Family<V> {
  readonly #root = new Map<string, unknown>();
  readonly #all: { readonly labels: LabelValues; readonly value: V }[] = [];

  constructor(
    readonly labels: readonly string[],
    private readonly make: () => V,
  ) {}

  /** The value of a combination. Who needs one often keeps it. */
  of(...values: LabelValues): V {
    let at: Map<string, unknown> | undefined = this.#root;
    const last = values.length - 1;
    for (let i = 0; i < last && at !== undefined; i++) at = at.get(values[i] as string) as typeof at;
    const found = at?.get(values[last] ?? "") as V | undefined;
    return found ?? this.#add(values);
  }

  get all(): readonly { readonly labels: LabelValues; readonly value: V }[] {
    return this.#all;
  }

  #add(values: LabelValues): V {
    const isOver = this.#all.length >= MAX_SERIES && values.some((value) => value !== OTHER);
    if (isOver) return this.of(...values.map(() => OTHER));
    let at = this.#root;
    for (const value of values.slice(0, -1)) {
      const next = (at.get(value) as typeof at | undefined) ?? new Map<string, unknown>();
      at.set(value, next);
      at = next;
    }
    const value = this.make();
    at.set(values.at(-1) ?? "", value);
    this.#all.push({ labels: values, value });
    return value;
  }
}

/** Counts, by the values of labels. */
export type Counter = Pick<Family<Count>, "of">;
/** Durations, by the values of labels. */
export type Histogram = Pick<Family<Durations>, "of">;
/** What a gauge is at the moment, by the values of its labels. */
export type Reading = readonly { readonly labels: LabelValues; readonly value: number }[];

/** Of this process: everything that it counts. */
const all = new Map<string, () => Snapshot>();
const gauges = new Map<string, Set<() => Reading | Promise<Reading>>>();
const described = new Map<string, Omit<Snapshot, "series">>();

/** Declares what is counted, once in a module. Its name ends with _total. */
export function counter(name: string, help: string, labels: readonly string[]): Counter {
  const family = new Family(labels, () => new Count());
  all.set(name, () => ({
    ...{ name, help, type: "counter", labels },
    series: family.all.map((one) => ({ labels: one.labels, value: one.value.value })),
  }));
  return family;
}

/** Declares what takes time, once in a module. Its name ends with _seconds. @param bounds of its buckets, in seconds. */
export function histogram(
  name: string,
  help: string,
  labels: readonly string[],
  bounds: readonly number[] = SECONDS,
): Histogram {
  const family = new Family(labels, () => new Durations(bounds));
  all.set(name, () => ({
    ...{ name, help, type: "histogram", labels, bounds },
    series: family.all.map(({ labels: values, value: { counts, sum } }) => ({
      labels: values,
      value: { counts: [...counts], sum },
    })),
  }));
  return family;
}

/** The buckets that OpenTelemetry advises for operations of MCP servers (semantic conventions, mcp.server.operation.duration). */
const SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Declares what is read only when somebody asks: it goes up and down, or only grows if its name ends with _total. */
export function gauge(name: string, help: string, labels: readonly string[]): Gauge {
  const readers = gauges.get(name) ?? new Set();
  gauges.set(name, readers);
  described.set(name, { name, help, type: name.endsWith("_total") ? "counter" : "gauge", labels });
  return {
    read(reader) {
      readers.add(reader);
      return () => void readers.delete(reader);
    },
  };
}

/** What is read when somebody asks. */
export interface Gauge {
  /** Reads it so from now on; what several read is added up. Returns the end of it. */
  read(reader: () => Reading | Promise<Reading>): () => void;
}

/** How long a gauge may take to be read, in milliseconds. */
const READ_MS = 2_000;

/** What this process has counted. A gauge that cannot be read in time is left out. */
export async function snapshots(): Promise<readonly Snapshot[]> {
  const read = [...gauges].map(async ([name, readers]): Promise<Snapshot> => {
    const readings = await Promise.all([...readers].map((reader) => inTime(reader)));
    return { ...(described.get(name) as Omit<Snapshot, "series">), series: added(readings.flat()) };
  });
  return [...[...all.values()].map((take) => take()), ...(await Promise.all(read))];
}

async function inTime(reader: () => Reading | Promise<Reading>): Promise<Reading> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Reading>((resolve) => {
    timer = setTimeout(resolve, READ_MS, []);
  });
  try {
    return await Promise.race([reader(), late]);
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}

function added(readings: Reading): Reading {
  const sums = new Map<string, { labels: LabelValues; value: number }>();
  for (const { labels, value } of readings) {
    const key = JSON.stringify(labels);
    sums.set(key, { labels, value: value + (sums.get(key)?.value ?? 0) });
  }
  return [...sums.values()];
}
