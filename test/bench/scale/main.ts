// npm run bench:scale: what much of something costs: idle connections, open streams, spans, keys, and nothing at all.
//
//   npm run bench:scale -- connections,spans
//   SCALE_SPANS=1000000 SCALE_KEYS=1000000 SCALE_CONNECTIONS=5000 SCALE_SECONDS=60 npm run bench:scale

import { leaveServersCore } from "../servers/cores.js";
import { endOnSignals } from "../servers/server.js";
import { connectionsPart } from "./connections.js";
import { idlePart } from "./idle.js";
import { keysPart } from "./keys.js";
import { spansPart } from "./spans.js";

/** Writes a row of the table. */
export type Say = (what: string, figure: string, of: string) => void;

const numberOf = (name: string, otherwise: number): number => Number(process.env[`SCALE_${name}`] ?? otherwise);
const PARTS: Readonly<Record<string, (say: Say) => Promise<void>>> = {
  connections: (say) => connectionsPart(say, numberOf("CONNECTIONS", 2_000)),
  spans: (say) => spansPart(say, numberOf("SPANS", 200_000)),
  keys: (say) => keysPart(say, numberOf("KEYS", 200_000)),
  idle: (say) => idlePart(say, numberOf("SECONDS", 60)),
};

const wanted = process.argv[2]?.split(",") ?? Object.keys(PARTS);
const unknown = wanted.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  process.stderr.write(`no such part: ${unknown.join(", ")}; there are ${Object.keys(PARTS).join(", ")}\n`);
  process.exit(2);
}
leaveServersCore();
endOnSignals();
process.stdout.write("| what | figure | of |\n|---|--:|---|\n");
for (const name of wanted)
  await PARTS[name]?.((what, figure, of) => process.stdout.write(`| ${what} | ${figure} | ${of} |\n`));
process.exit(0);
