import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { call } from "../support/mcp.js";
import { spawnProgram, startProgram } from "../support/program.js";
import { titled } from "../support/titled.js";

// The built program under every Node that it is for, on both edges: those that
// test/foreign/nodes/install.sh has brought, and the one of the tests.

const INSTALLED = join(import.meta.dirname, "../foreign/nodes/node_modules");
const OWN = Number.parseInt(process.versions.node, 10);
const NODES = new Map<number, string>([
  ...[22, 24, 26].map((major) => [major, join(INSTALLED, `node-${major}/bin/node`)] as const),
  [OWN, process.execPath],
]);

const rows: string[] = [];
afterAll(
  () =>
    void process.stdout.write(
      `${["| Node | EDGE | serves | first call |", "|---|---|---|--:|", ...rows].join("\n")}\n`,
    ),
);

/** Whether µWebSockets.js loads under a Node. */
function loadsUws(node: string): boolean {
  return spawnSync(node, ["--input-type=module", "--eval", 'await import("uWebSockets.js")']).status === 0;
}

describe.each([...NODES])(
  "Node %i",
  (major, node) => {
    const isHere = existsSync(node);
    const hasUws = isHere && loadsUws(node);
    const absent = isHere ? undefined : "run test/foreign/nodes/install.sh --all";

    /** Starts, calls a tool, ends in order; gives what the program said. */
    async function firstCall(edge: "uws" | "node" | ""): Promise<string> {
      const began = performance.now();
      const program = await startProgram({ node, env: { EDGE: edge } });
      try {
        const { admin } = program.bootstrap;
        const who = await call<object>(`${program.baseUrl}/mcp/cti`, admin.api_key, "whoami");
        expect(JSON.stringify(who)).toContain(admin.email);
        const seconds = ((performance.now() - began) / 1_000).toFixed(1);
        rows.push(`| ${major} | ${edge || "left out"} | ${edge || (hasUws ? "uws" : "node")} | ${seconds} s |`);
        const ended = once(program.process, "exit");
        program.process.kill("SIGTERM");
        expect(await ended).toEqual([0, null]);
        return program.output();
      } finally {
        await program.stop();
      }
    }

    test.skipIf(!isHere)(
      titled("without EDGE it serves, and says so where that is not µWebSockets.js", absent),
      async () => {
        const said = await firstCall("");
        expect(/uses node:http instead of µWebSockets\.js: /.test(said)).toBe(!hasUws);
      },
    );

    // Where it is left out and µWebSockets.js does not load, that is what served.
    test.skipIf(!hasUws)(
      titled("EDGE=node serves", absent ?? (hasUws ? undefined : "it is what served without")),
      async () => {
        expect(await firstCall("node")).not.toContain("µWebSockets");
      },
    );

    test.skipIf(!isHere || hasUws)(
      titled(
        "EDGE=uws ends in one line, with exit code 1, before anything is written",
        absent ?? (hasUws ? "it loads here" : undefined),
      ),
      async () => {
        const dir = mkdtempSync(join(tmpdir(), "sallyport-"));
        const child = spawnProgram(
          "services/main.js",
          [],
          { PORT: "0", GRPC_PORT: "0", DATA_DIR: dir, EDGE: "uws" },
          node,
        );
        const [code] = (await once(child.process, "exit")) as [number];
        const said = child.output().trim();
        rows.push(`| ${major} | uws | exit ${code}: ${said} | |`);
        expect([code, said]).toEqual([
          1,
          expect.stringMatching(/^EDGE=uws cannot be used: .*; leave EDGE out, or set EDGE=node$/),
        ]);
        expect(readdirSync(dir)).toEqual([]);
        rmSync(dir, { recursive: true });
      },
    );
  },
  60_000,
);
