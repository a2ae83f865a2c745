// npm run bench:gate: fails if the façade takes more than it may, as a multiple
// of bare µWebSockets.js in the same rounds. A few short rounds, and once more
// before it fails. The limits are in limits.ts.

import { measure } from "./figures/measure.js";
import { better, type Held, held, LIMITS, sentenceOf } from "./limits.js";
import { load } from "./load.js";
import { leaveServersCore } from "./servers/cores.js";
import { endOnSignals, type Server, startOwn } from "./servers/server.js";
import { capture, startFloor } from "./suites/capture.js";
import { SHAPES } from "./suites/facade.js";

const PACE = { rounds: 7, ms: 300 };
const CONNECTIONS = 16;

leaveServersCore();
endOnSignals();
const facade = await startOwn("./facade.js");

async function measureAll(names: readonly string[]): Promise<Held[]> {
  const all: Held[] = [];
  for (const limit of LIMITS.filter(({ shape }) => names.includes(shape))) {
    const shape = SHAPES.find(({ name }) => name === limit.shape);
    if (shape === undefined) throw new Error(`no shape is named ${limit.shape}`);
    const floor = await startFloor(await capture(facade.port, shape.request, shape));
    const variant = (name: string, kind: "floor" | "ours", { pids, port }: Server) => ({
      ...{ name, kind, pids },
      send: (ms: number) => load({ port, requests: [shape.request], connections: CONNECTIONS }, ms),
    });
    const variants = [variant("bare µWS", "floor", floor), variant("façade", "ours", facade)];
    all.push(held(limit, await measure({ suite: "gate", name: shape.name, variants }, PACE)));
    await floor.stop();
  }
  return all;
}

const first = await measureAll(LIMITS.map(({ shape }) => shape));
const failed = first.filter(({ holds }) => !holds);
const last = failed.length === 0 ? first : better(first, await measureAll(failed.map(({ shape }) => shape)));
await facade.stop();
for (const one of last) process.stdout.write(`${sentenceOf(one)}\n`);
process.exit(last.every(({ holds }) => holds) ? 0 : 1);
