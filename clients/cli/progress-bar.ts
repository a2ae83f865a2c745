import { Presets, SingleBar } from "cli-progress";

/** Shows how far something is, on standard error; where that is no terminal, nothing. */
export interface ProgressBar {
  /** @param what is done at the moment. */
  at(done: number, what: string): void;
  stop(): void;
}

/** @param doing in a word. */
export function progressBar(doing: string, total: number): ProgressBar {
  const format = `${doing} {bar} {percentage}% | {what}`;
  const bar = new SingleBar(
    { format, stream: process.stderr, hideCursor: true, etaBuffer: 50 },
    Presets.shades_classic,
  );
  bar.start(Math.max(1, total), 0, { what: "" });
  return {
    at: (done, what) => bar.update(Math.min(done, total), { what: what.slice(-60) }),
    stop: () => bar.stop(),
  };
}
