import { describe } from "vitest";
import { EDGE_NAMES } from "../../../facade/config.js";
import type { Listen } from "../../../facade/http/edge.js";
import { loadEdge, whyNotLoaded } from "../../../facade/http/edges.js";
import { titled } from "../../support/titled.js";
import { start } from "./start.js";

/** An edge under test: a façade on it, and the edge itself. */
export interface OnEdge {
  readonly start: typeof start;
  readonly listen: Listen;
}

const loaded = await Promise.all(
  EDGE_NAMES.map(async (name) => ({
    name,
    listen: await loadEdge(name).catch((error: Error) => whyNotLoaded(error)),
  })),
);

/** Runs tests on every edge; those of one that does not load here are skipped, and named. */
export function onEachEdge(tests: (edge: OnEdge) => void): void {
  for (const { name, listen } of loaded) {
    const missing = typeof listen === "string" ? listen : undefined;
    describe.skipIf(missing)(titled(`on ${name}`, missing), () =>
      tests({
        start: (options, log) => start({ edge: name, ...options }, log),
        listen: typeof listen === "string" ? absent : listen,
      }),
    );
  }
}

const absent: Listen = () => Promise.reject(new Error("not loaded"));
