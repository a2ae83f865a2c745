// Loaded into the program by NODE_OPTIONS: writes down how late each turn of its
// event loop comes, a line each, since nothing outside a process sees that; and a
// line for each request that it sends to others.

import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const FILE = process.env.LATE_TURNS;
const PACE_MS = 5;
const LATE_MS = 10;

if (isMainThread && FILE !== undefined) {
  let due = performance.now() + PACE_MS;
  const look = () => {
    const now = performance.now();
    if (now - due > LATE_MS) appendFileSync(FILE, `${(now - due).toFixed(1)}\n`);
    due = now + PACE_MS;
  };
  setInterval(look, PACE_MS).unref();
  subscribe("undici:request:create", () => appendFileSync(FILE, "sent\n"));
}
