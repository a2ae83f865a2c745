// A read at the gRPC port, by the client of Node.js and by ghz, against
// connect-node alone.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { ListAgentsRequestSchema } from "#proto/core/v1/agent_service_pb.js";
import { isOnPath } from "../../support/foreign.js";
import { measure } from "../figures/measure.js";
import { type Program, startProgram } from "../servers/program.js";
import { type Server, startOwn } from "../servers/server.js";
import { createAgents, LIST_AGENTS } from "./agents.js";
import type { Context } from "./context.js";

const METHOD = "/core.v1.AgentService/ListAgents";
const REQUEST = Buffer.from(
  toBinary(ListAgentsRequestSchema, create(ListAgentsRequestSchema, { pageSize: LIST_AGENTS.arguments.page_size })),
);
const AGENTS = 32;
const same = (bytes: Buffer): Buffer => bytes;

/** Measures the gRPC port. */
export async function grpcSuite(context: Context): Promise<void> {
  const program = await startProgram({});
  await createAgents(program, AGENTS);
  const first = new Client(program.grpcAddress, credentials.createInsecure());
  const response = await call(first, metadataOf(program));
  first.close();
  const floor = await startOwn("./connect-node.js", { response: response.toString("base64") });
  const servers = [
    { name: "bare connect-node", kind: "floor" as const, server: floor, address: `127.0.0.1:${floor.port}` },
    { name: "one process", kind: "ours" as const, server: program, address: program.grpcAddress },
  ];
  const clients = [
    { client: "grpc-js", sends: byGrpcJs },
    ...(isOnPath("ghz") ? [{ client: "ghz", sends: byGhz }] : []),
  ];
  if (clients.length === 1) context.skip("ghz: not found");
  for (const { client, sends } of clients) {
    for (const atOnce of context.connections) {
      const name = `ListAgents by ${client}, ${atOnce} at once (${REQUEST.length} B in)`;
      if (!context.wants(name)) continue;
      const variants = servers.map(({ name: variant, kind, server, address }) => ({
        ...{ name: variant, kind, pids: server.pids, bytes: response.length },
        send: sends(address, program, atOnce),
      }));
      context.measured(await measure({ suite: "grpc", name, variants }, context.pace));
    }
  }
  for (const { server } of servers satisfies { server: Server }[]) await server.stop();
}

function metadataOf({ key }: Program): Metadata {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${key}`);
  return metadata;
}

function call(client: Client, metadata: Metadata): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(METHOD, same, same, REQUEST, metadata, (error, answer) => {
      if (error !== null) reject(error);
      else resolve(answer as Buffer);
    });
  });
}

type Sends = (address: string, program: Program, atOnce: number) => (ms: number) => Promise<number>;

/** Calls on one connection, each followed by the next one when it is answered. */
const byGrpcJs: Sends = (address, program, atOnce) => async (ms) => {
  const client = new Client(address, credentials.createInsecure());
  const metadata = metadataOf(program);
  const end = performance.now() + ms;
  const loop = async (): Promise<number> => {
    let count = 0;
    while (performance.now() < end) {
      await call(client, metadata);
      count++;
    }
    return count;
  };
  const counts = await Promise.all(Array.from({ length: atOnce }, loop));
  client.close();
  return counts.reduce((sum, count) => sum + count, 0);
};

const byGhz: Sends = (address, program, atOnce) => async (ms) => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"));
  // In a file, because every user of this machine can see the arguments of a program.
  const metadata = join(folder, "metadata.json");
  writeFileSync(metadata, JSON.stringify({ authorization: `Bearer ${program.key}` }), { mode: 0o600 });
  const child = spawn(
    "ghz",
    [
      ...["--insecure", "--protoset", "proto/gen/api.binpb", "--call", "core.v1.AgentService.ListAgents"],
      ...["--data", JSON.stringify({ page_size: LIST_AGENTS.arguments.page_size }), "--metadata-file", metadata],
      ...["--duration", `${Math.round(ms)}ms`, "--duration-stop", "wait"],
      ...["--concurrency", String(atOnce), "--connections", "1", "--format", "json", address],
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const report = await outputOf(child);
  rmSync(folder, { recursive: true, force: true });
  const { count, statusCodeDistribution: codes, errorDistribution: errors } = JSON.parse(report) as GhzReport;
  const { OK: answered = 0 } = codes;
  if (answered + (errors[CUT_BY_GHZ] ?? 0) !== count) throw new Error(`ghz: not all calls succeeded: ${report}`);
  return answered;
};

/** What the bench reads of the report of ghz. */
interface GhzReport {
  readonly count: number;
  readonly statusCodeDistribution: Readonly<Record<string, number>>;
  readonly errorDistribution: Readonly<Record<string, number>>;
}

/** ghz closes its connection when the time is over, and counts as failed a call that it begins at that moment. */
const CUT_BY_GHZ = "rpc error: code = Unavailable desc = the connection is draining";

async function outputOf(child: ChildProcess): Promise<string> {
  let said = "";
  child.stdout?.on("data", (chunk: Buffer) => (said += chunk));
  await new Promise((resolve) => child.once("close", resolve));
  return said;
}
