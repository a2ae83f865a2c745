import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharesPorts } from "../../facade/http/node-edge.js";
import { familyOf } from "../bench/servers/processes.js";
import { call } from "../support/mcp.js";
import { addressesOf, freePorts, type Program, spawnProgram, startProgram, untilReady } from "../support/program.js";
import { titled } from "../support/titled.js";

// Façades in processes of their own, on either edge: with µWebSockets.js
// they call the services by the lane, and with node:http at the gRPC port.

const noChrt = spawnSync("chrt", ["-m"]).status === 0 ? undefined : "chrt of util-linux";
const CANNOT_SHARE = "Node 22.12, in which node:http can share a port";
const whyNot = (edge: string): string | undefined => (edge === "node" && !sharesPorts() ? CANNOT_SHARE : undefined);

describe.each(["uws", "node"])("EDGE=%s", (edge) => {
  describe.skipIf(whyNot(edge) !== undefined)(titled("two workers", whyNot(edge)), () => {
    let program: Program;
    let lanePort: number;
    beforeAll(async () => {
      [lanePort] = (await freePorts(1)) as [number];
      program = await startProgram({
        env: { EDGE: edge, WORKERS: "2", LANE_PORT: String(lanePort), LOG_LEVEL: "debug" },
      });
    });
    afterAll(() => program?.stop());

    test("a tool is called, a write too, and what fails says why", async () => {
      const answers = await Promise.all(
        Array.from({ length: 30 }, () => called("tools/call", { name: "list_agents", arguments: { page_size: 2 } })),
      );
      for (const { status, text } of answers) {
        expect(status).toBe(200);
        expect(JSON.parse(text).result.structuredContent.agents).toHaveLength(2);
      }
      const made = await called("tools/call", { name: "create_agent", arguments: { name: "By the lane" } });
      const { agent } = JSON.parse(made.text).result.structuredContent;
      const found = await called("tools/call", { name: "get_agent", arguments: { agent_id: agent.id } });
      expect(JSON.parse(found.text).result.structuredContent.agent.name).toBe("By the lane");
      const none = await called("tools/call", { name: "get_agent", arguments: { agent_id: "none" } });
      expect(JSON.parse(none.text).result).toMatchObject({ isError: true });
    });

    test.skipIf(process.platform !== "linux")("the workers have connections to the lane if there is one", async () => {
      const now = () => called("tools/call", { name: "list_agents", arguments: { page_size: 1 } });
      await Promise.all(Array.from({ length: 30 }, now));
      if (edge === "uws") expect(connectionsTo(lanePort)).toBeGreaterThan(0);
      else expect(connectionsTo(lanePort)).toBe(0);
    });

    test.skipIf(noChrt !== undefined)(titled("services do not interrupt a worker that runs", noChrt), async () => {
      const main = program.process.pid as number;
      await expect.poll(() => policyOf(main)).toBe(SCHED_BATCH);
      const workers = familyOf(main).filter((pid) => commandOf(pid).includes("facade/main.js"));
      expect(workers.map(policyOf)).toEqual([SCHED_OTHER, SCHED_OTHER]);
    });

    test("nobody else hears of it: no client, and no log", async () => {
      const { headers } = await called("tools/list", {});
      expect(headers["x-lane-token"]).toBeUndefined();
      expect(headers["alt-svc"]).toBeUndefined();
      expect(program.output()).not.toMatch(/x-lane-token/i);
    });

    /** One request to core on a connection of its own, which the kernel gives to either worker. */
    function called(method: string, params: object) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const headers = {
        ...{ authorization: `Bearer ${program.bootstrap.admin.api_key}`, "content-type": "application/json" },
        accept: "application/json, text/event-stream",
      };
      return new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; text: string }>(
        (resolve, reject) => {
          const sent = request(`${program.baseUrl}/mcp/core`, { method: "POST", agent: false, headers }, (reply) => {
            let text = "";
            reply.setEncoding("utf8").on("data", (some: string) => {
              text += some;
            });
            reply.on("end", () => resolve({ status: reply.statusCode, headers: reply.headers, text }));
          });
          sent.on("error", reject).end(body);
        },
      );
    }
  });
});

test.skipIf(process.platform !== "linux")("a façade alone uses the socket of services on its machine", async () => {
  // Its name is short: that of a socket is.
  const temporary = mkdtempSync(join(tmpdir(), "lane-"));
  const [port] = (await freePorts(1)) as [number];
  const baseUrl = `http://127.0.0.1:${port}`;
  const services = await startProgram({ env: { WORKERS: "0", BASE_URL: baseUrl, TMPDIR: temporary } });
  const facade = spawnProgram("facade/main.js", [], { PORT: String(port), ...addressesOf(services) });
  try {
    await untilReady(facade);
    const listed = () => call(`${baseUrl}/mcp/core`, services.bootstrap.admin.api_key, "list_agents", { page_size: 1 });
    await Promise.all(Array.from({ length: 30 }, listed));
    expect(connectionsIn(temporary)).toBeGreaterThan(0);
  } finally {
    await facade.stop();
    await services.stop();
    rmSync(temporary, { recursive: true });
  }
});

/** By which policy the main thread of a process is scheduled (proc_pid_stat(5), sched(7)). */
function policyOf(pid: number): number {
  const line = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(line.slice(line.lastIndexOf(")") + 2).split(" ")[POLICY]);
}
/** Its field, counted from the state of the process. */
const POLICY = 38;
const [SCHED_OTHER, SCHED_BATCH] = [0, 3];

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8");
}

/** Connections that sockets in a directory have accepted (proc_net_unix). */
function connectionsIn(directory: string): number {
  const rows = readFileSync("/proc/net/unix", "utf8").split("\n");
  return rows.filter((row) => row.includes(` ${CONNECTED} `) && row.includes(directory)).length;
}
const CONNECTED = "03";

/** Established connections of this machine to a port (proc_net_tcp(5)). */
function connectionsTo(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
  return rows.filter((row) => {
    const [, , to, state] = row.trim().split(/\s+/);
    return to?.endsWith(remote) && state === ESTABLISHED;
  }).length;
}
const ESTABLISHED = "01";
