// npm run bench: the CPU time of a request, the kernel's for it included, and
// its ratio to a floor that sends the same bytes and to servers by other SDKs.
// All in one run, in turns, because machines differ and change.
//
//   npm run bench -- --suites facade,stack --rounds 7 --html page.html

import { writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { VERSION } from "../../services/shared/process/version.js";
import type { Measured } from "./figures/group.js";
import { type Latencies, titleOf } from "./figures/latencies.js";
import { latencyTableOf, tableOf, textOf } from "./figures/table.js";
import { readOptions, SUITES, type Suite } from "./options.js";
import { buildPeers } from "./peers/peers.js";
import { pageOf } from "./report/page.js";
import type { Result } from "./report/result.js";
import { leaveServersCore, PINNING } from "./servers/cores.js";
import { endOnSignals } from "./servers/server.js";
import { auditSuite } from "./suites/audit.js";
import type { Context } from "./suites/context.js";
import { facadeSuite } from "./suites/facade.js";
import { grpcSuite } from "./suites/grpc.js";
import { latencySuite } from "./suites/latency.js";
import { microSuite } from "./suites/micro.js";
import { stackSuite } from "./suites/stack.js";

const RUNS: Readonly<Record<Suite, (context: Context) => Promise<void>>> = {
  micro: microSuite,
  facade: facadeSuite,
  audit: auditSuite,
  grpc: grpcSuite,
  stack: stackSuite,
  latency: latencySuite,
};
/** The suites that compare servers by other SDKs. */
const WITH_PEERS: readonly Suite[] = ["facade", "audit", "stack"];

const { suites, peers: languages, only, json, html, ...own } = readOptions(process.argv.slice(2));
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const needsPeers = suites.some((suite) => WITH_PEERS.includes(suite));
const peers = buildPeers(needsPeers ? languages : [], say);
leaveServersCore();
endOnSignals();

const groups: Measured[] = [];
const latencies: Latencies[] = [];
const skipped: string[] = [];
const skip = (what: string): void => {
  if (skipped.includes(what)) return;
  skipped.push(what);
  say(`not measured: ${what}`);
};
peers.skipped.forEach(skip);
const context: Context = {
  pace: { rounds: own.rounds, ms: own.ms },
  connections: own.connections,
  pauseUs: own.pause,
  seconds: own.seconds,
  peers: peers.built,
  wants: (group) => group.includes(only),
  skip,
  measured(group) {
    groups.push(group);
    process.stdout.write(`\n${group.suite}: ${group.name}\n${textOf(tableOf(group))}`);
  },
  timed(one) {
    latencies.push(one);
    process.stdout.write(`\nlatency: ${titleOf(one)}\n${textOf(latencyTableOf(one))}`);
  },
};
for (const suite of SUITES) if (suites.includes(suite)) await RUNS[suite](context);

const result: Result = {
  version: 1,
  at: new Date().toISOString(),
  by: `sallyport ${VERSION}`,
  machine: {
    node: process.version,
    cpu: cpus()[0]?.model ?? "",
    cpus: cpus().length,
    kernel: release(),
    pinning: PINNING,
  },
  options: own,
  groups,
  latencies,
  skipped,
};
if (json !== undefined) writeFileSync(json, `${JSON.stringify(result, null, 2)}\n`);
if (html !== undefined) writeFileSync(html, pageOf(result));
// Clients that were used may keep sockets open.
process.exit(0);
