import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Answered, Listed } from "../../../services/core-objects/runs/apart/mcp.js";
import { MCP_SERVERS } from "../../../services/core-objects/runs/outgoing.js";
import { createIsolation, TOO_MUCH_MEMORY } from "../../../services/shared/isolation/isolation.js";
import { createProcesses } from "../../../services/shared/process/processes.js";
import { LOOPBACK } from "../../support/outgoing.js";
import { changedAnswer, type Sent, wellAnswer } from "./mcp-answers.js";
import { Random } from "./random.js";
import { type FuzzTarget, wordsOf } from "./target.js";

/** Remote servers, each with a process that reads it, and calls of each at once. */
const REMOTES = 8;
const LANES = 8;
/** Calls of one session before it is opened again. */
const CALLS = 50;
/** How long an answer is waited for, in milliseconds: one that is right, and one that may never come. */
const WELL_MS = 60_000;
const CHANGED_MS = 2_000;
/** Of inputs, how many have an answer that is right: it must be read as it is. */
const WELL_TIMES = 10;

const FOUND = JSON.stringify({ text: "found\nmore\n[image]", isError: false } satisfies Answered);
const NAMES = "find add";
/** Words of faults of ours: of a program, and of a process that ended. */
const OURS =
  /Cannot (?:read|set|convert|destructure)|is not a (?:function|constructor)|is not (?:iterable|defined)|\[object |^\[\s*\{|process ended|^$/;

/** Which of the answers of an input is changed, and by what. */
interface Plan {
  readonly method: "initialize" | "tools/list" | "tools/call";
  readonly random: Random;
  readonly isWell: boolean;
}

/** Remote MCP servers whose answers are changed, over sockets, in front of the client that runs use, in its processes. */
export async function fuzzMcpServers(): Promise<FuzzTarget> {
  const refusals = new Set<string>();
  const processes = createProcesses();
  const isolation = createIsolation(processes);
  const plans = new Map<string, Plan>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const plan = plans.get(request.url ?? "");
      const { id, method } = readRequest(Buffer.concat(pieces));
      // A stream that is taken up again ends with the answer, or is another one that is not right.
      if (request.method === "GET" && plan !== undefined)
        return void send(response, changedAnswer(1, plan.method, plan.random));
      if (id === undefined || method === undefined) return void response.writeHead(202).end();
      const isChanged = plan !== undefined && !plan.isWell && plan.method === method;
      const random = plan?.random ?? new Random(1);
      send(response, isChanged ? changedAnswer(id, method, random) : wellAnswer(id, method, random));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const lanes = Array.from({ length: REMOTES * LANES }, (_, n) => startLane(n));
  const free = [...lanes];

  /** One call at a time, as one session of a remote. */
  function startLane(n: number) {
    const remote = { id: `remote-${n % REMOTES}`, owner: `owner-${n % REMOTES}` };
    const path = `/${n}`;
    const never = new AbortController().signal;
    let [session, calls, opened] = ["", 0, 0];
    let mayBeBroken = false;

    const ask = (method: "connect" | "call" | "close", asked: string, ms: number) =>
      isolation.call(MCP_SERVERS, remote, method, asked, { ms, signal: never }) as Promise<string>;

    async function open(ms: number): Promise<[session: string, listed: Listed]> {
      const name = `${n}-${opened++}`;
      const address = { url: `http://127.0.0.1:${port}${path}`, transport: "streamable_http", headers: {} };
      const listed = await ask("connect", JSON.stringify({ session: name, ...address, policy: LOOPBACK }), ms);
      return [name, JSON.parse(listed) as Listed];
    }

    async function close(): Promise<void> {
      if (session !== "") await ask("close", session, WELL_MS);
      session = "";
    }

    /** What is wrong with what came of it; undefined where nothing is. */
    async function connected({ isWell }: Plan, ms: number): Promise<string | undefined> {
      const [name, { tools, notes }] = await open(ms);
      await ask("close", name, WELL_MS);
      const names = tools.map((tool) => tool.name);
      if (isWell && names.join(" ") !== NAMES) return `tools that are right were read as ${names}`;
      const isWhole = tools.every((tool) => typeof tool.name === "string" && typeof tool.description === "string");
      return isWhole && notes.length <= 5 ? undefined : `it listed ${JSON.stringify(tools).slice(0, 200)}`;
    }

    async function called({ isWell }: Plan, ms: number): Promise<string | undefined> {
      const params = { session, name: "find", arguments: {} };
      const answer = await ask("call", JSON.stringify(params), ms);
      if (isWell && answer !== FOUND) return `an answer that is right was read as ${answer.slice(0, 200)}`;
      const { text, isError } = JSON.parse(answer) as Answered;
      return typeof text === "string" && typeof isError === "boolean" ? undefined : `it answered ${answer}`;
    }

    return {
      async one(random: Random): Promise<string | undefined> {
        const isWell = random.once(WELL_TIMES);
        const method = random.pick(["initialize", "tools/list", "tools/list", "tools/call", "tools/call"] as const);
        const plan: Plan = { method, random, isWell };
        const ms = isWell ? WELL_MS : CHANGED_MS;
        try {
          // What came behind the answer to the last call may have ended the session, which is told at the next one.
          if (method === "tools/call" && isWell && mayBeBroken) await close();
          if (method === "tools/call" && session === "") [session] = await open(WELL_MS);
          if (method === "tools/call") mayBeBroken = !isWell;
          plans.set(path, plan);
          return await (method === "tools/call" ? called(plan, ms) : connected(plan, ms));
        } catch (error) {
          const { name, message } = error as Error;
          refusals.add(wordsOf(message));
          if (method === "tools/call" && name !== "Error") await close();
          if (isWell) return `an answer that is right was refused: ${message}`;
          return OURS.test(message) || message === TOO_MUCH_MEMORY ? `${method}: ${message}` : undefined;
        } finally {
          plans.delete(path);
          if (method === "tools/call" && ++calls % CALLS === 0) await close();
        }
      },
      close,
    };
  }

  return {
    name: "answers of MCP servers",
    refusals,
    atOnce: lanes.length,
    async one(random) {
      const lane = free.pop()!;
      try {
        return await lane.one(random);
      } finally {
        free.push(lane);
      }
    },
    async close() {
      await isolation.close();
      await processes.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(response: ServerResponse, { status, headers, pieces, isBroken }: Sent): void {
  // The length that is named may not be that of the bytes; the client closes the connection then.
  response.strictContentLength = false;
  response.writeHead(status, headers);
  for (const piece of pieces) response.write(piece);
  if (isBroken) setImmediate(() => response.destroy());
  else response.end();
  if (headers["content-length"] !== undefined) setTimeout(() => response.destroy(), 5);
}

function readRequest(body: Buffer): { readonly id?: unknown; readonly method?: string } {
  try {
    return JSON.parse(body.toString()) as { id?: unknown; method: string };
  } catch {
    return {};
  }
}
