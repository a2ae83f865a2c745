// The whole built program, in one process, in two, and with two workers: lists
// of tools, a read, and a change that the audit records.

import { legacy, modern } from "../../facade/support/client.js";
import type { Variant } from "../figures/group.js";
import { measure } from "../figures/measure.js";
import { bodyBytes, load, requestBytes } from "../load.js";
import { type Program, startProgram, startTwoProcesses } from "../servers/program.js";
import type { Server } from "../servers/server.js";
import type { Stored } from "../servers/storing.js";
import { createAgents, LIST_AGENTS, updateAgent } from "./agents.js";
import { capture, messageOf, startFloor, startStoringFloor } from "./capture.js";
import { type Context, loopText, mostOf } from "./context.js";
import { peerVariants, type Running, startPeers } from "./peer-variants.js";

const ERAS = { "2026-07-28": modern, "2025-11-25": legacy } as const;
type Era = keyof typeof ERAS;

const SETUPS = [
  { name: "one process", start: () => startProgram({ WORKERS: "1" }) },
  { name: "two processes", start: startTwoProcesses },
  { name: "two workers", start: () => startProgram({ WORKERS: "2" }) },
] as const;

/** One of the programs that are measured, with agents that its calls change. */
interface Setup {
  readonly name: string;
  readonly program: Program;
  readonly agents: readonly string[];
}

interface Operation {
  readonly name: string;
  readonly path: string;
  readonly encoding?: string;
  /** What floors store too, by their names, if the operation is a change. */
  readonly stores?: Readonly<Record<string, Stored>>;
  /** The message of a connection. */
  readonly message: (era: Era, agent: string) => ReturnType<typeof modern> | ReturnType<typeof legacy>;
}

const list = (era: Era) => ERAS[era]("tools/list");
/** Those of cti that make a list of about 59 KB. */
const TOOLSETS = "entity_list,entity,case,search,statistics,note";
const OPERATIONS: readonly Operation[] = [
  { name: "tools/list of cti", path: "/mcp/cti", message: list },
  { name: "tools/list of cti, br", path: "/mcp/cti", encoding: "br", message: list },
  { name: "tools/list of cti, gzip", path: "/mcp/cti", encoding: "gzip", message: list },
  { name: "tools/list of cti, narrowed", path: `/mcp/cti?toolsets=${TOOLSETS}`, message: list },
  { name: "list_agents, a read", path: "/mcp/core", message: (era) => ERAS[era]("tools/call", LIST_AGENTS) },
  {
    name: "update_agent, audited",
    path: "/mcp/core",
    // An agent of the suite takes 1,466 bytes in the store, and its record 485 in a frame of many: a put in LMDB and an append
    // after it, or both in one append. The service appends the one and then the other.
    stores: { "µWS that stores": { document: 1_466, record: 485 }, "µWS that appends": { record: 1_951 } },
    message: (era, agent) => ERAS[era]("tools/call", updateAgent(agent)),
  },
];

/** The requests of an operation, one for each agent. */
function requestsOf(
  { path, encoding, message }: Operation,
  era: Era,
  { program, agents }: Pick<Setup, "program" | "agents">,
): Buffer[] {
  const more = {
    authorization: `Bearer ${program.key}`,
    ...(encoding !== undefined && { "accept-encoding": encoding }),
  };
  return agents.map((agent) => {
    const { body, headers } = message(era, agent);
    return requestBytes(path, { ...headers, ...more }, JSON.stringify(body));
  });
}

/** Measures the program. */
export async function stackSuite(context: Context): Promise<void> {
  const setups: Setup[] = [];
  for (const { name, start } of SETUPS) {
    const program = await start();
    setups.push({ name, program, agents: await createAgents(program, mostOf(context)) });
  }
  for (const operation of OPERATIONS.filter(({ name }) => context.wants(name))) {
    await measureOperation(context, setups, operation);
  }
  for (const { program } of setups) await program.stop();
}

async function measureOperation(context: Context, setups: readonly Setup[], operation: Operation): Promise<void> {
  const [first] = setups as [Setup];
  const { encoding, path } = operation;
  const wanted = { status: 200, encoding };
  const plain = requestsOf({ ...operation, encoding: "identity" }, "2026-07-28", first)[0] as Buffer;
  const { result } = messageOf(await capture(first.program.port, plain, { status: 200 }));
  const { name: tool } = (operation.message("2026-07-28", "").body.params ?? {}) as { name?: string };
  const peers = await startPeers(context, {
    path: path.split("?")[0] as string,
    tools: (result?.tools as unknown[] | undefined) ?? [
      { name: tool, description: tool, inputSchema: { type: "object" } },
    ],
    results: tool === undefined ? {} : { [tool]: result?.structuredContent },
  });
  for (const era of Object.keys(ERAS) as Era[]) {
    const own = setups.map((setup) => ({ ...setup, requests: requestsOf(operation, era, setup) }));
    const requests = own[0]?.requests as Buffer[];
    // Each program is asked, so that all have prepared what they send.
    const answers = await Promise.all(
      own.map(({ program, requests: [one] }) => capture(program.port, one as Buffer, wanted)),
    );
    const [answer] = answers as [(typeof answers)[0]];
    const floors = new Map([["bare µWS", await startFloor(answer)]]);
    if (operation.message === list)
      floors.set("µWS that reads", await startFloor(answer, { authorization: `Bearer ${first.program.key}` }));
    for (const [name, stored] of Object.entries(operation.stores ?? {}))
      floors.set(name, await startStoringFloor(answer, stored));
    for (const connections of context.connections) {
      const of = loopText(context, connections);
      const name = `${operation.name}, ${era}, ${of} (${bodyBytes(requests[0] as Buffer)} B in)`;
      const loop = { requests, connections, pauseUs: context.pauseUs };
      const bytes = answer.body.length;
      const floorOf = (name: string, { pids, port }: Server): Variant => {
        return { name, kind: "floor", pids, bytes, send: (ms) => load({ ...loop, port }, ms) };
      };
      const variants: Variant[] = [
        ...[...floors].map(([name, server]) => floorOf(name, server)),
        ...own.map(({ name, program: { pids, port }, requests: ours }): Variant => {
          return { name, kind: "ours", pids, bytes, send: (ms) => load({ ...loop, requests: ours, port }, ms) };
        }),
      ];
      variants.push(...(await peerVariants(peers, loop, context, operation.name)));
      context.measured(await measure({ suite: "stack", name, variants }, context.pace));
    }
    for (const server of floors.values()) await server.stop();
  }
  for (const { server } of peers satisfies Running[]) await server.stop();
}
