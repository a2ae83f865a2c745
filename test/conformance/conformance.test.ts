import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFacade, type Facade } from "../../facade/facade.js";
import { createShares } from "../../services/shared/limits/shares.js";
import { silentLog } from "../../services/shared/process/log.js";
import { mountInProcess } from "../../services/shared/rpc/in-process.js";
import { readImage } from "../../services/shared/tools/image.js";
import { createKeys } from "../facade/support/credentials.js";
import { createWorld, fixtureMethods } from "../facade/support/services.js";
import { FIXTURE_IMAGE, LIMITS, MANY } from "../facade/support/start.js";
import { titled } from "../support/titled.js";
import { type AuthProxy, startAuthProxy } from "./auth-proxy.js";
import { conformanceMethods } from "./fixture-methods.js";

// The official suite against the façade, with a token, as clients come. It
// needs Node 22 and a package of its own: npm ci --prefix test/conformance/suite.

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const NODE = here("suite/node_modules/node/bin/node");
const SUITE = here("suite/node_modules/@modelcontextprotocol/conformance/dist/index.js");
const installed = existsSync(NODE) && existsSync(SUITE);

describe.skipIf(!installed)(
  titled("the official conformance suite", installed ? undefined : "npm ci --prefix test/conformance/suite"),
  () => {
    let facade: Facade;
    let proxy: AuthProxy;
    const out = mkdtempSync(join(tmpdir(), "conformance-"));

    beforeAll(async () => {
      const keys = createKeys();
      const world = createWorld();
      const image = readImage(FIXTURE_IMAGE);
      world.visible.set("*", CONFORMANCE_TOOLS);
      keys.add("suite", { scopes: new Set(["account", "conformance:read"]) });
      facade = await createFacade({
        dispatch: mountInProcess([...fixtureMethods(world, ["conformance"]), ...conformanceMethods], {
          authenticator: keys.authenticator,
          log: silentLog,
        }),
        self: { authorization: "Bearer facade" },
        credentials: keys,
        image,
        baseUrl: new URL("http://localhost"),
        serviceName: "Conformance",
        apiKeyVariable: "SERVICE_API_KEY",
        version: "1.0.0",
        ready: async () => [],
        limits: LIMITS,
        shares: createShares({ perKey: MANY, perUser: MANY }),
        log: silentLog,
      });
      proxy = await startAuthProxy(await facade.listen("127.0.0.1", 0), "suite");
    });
    afterAll(async () => {
      proxy.close();
      await facade.drain(0);
      rmSync(out, { recursive: true });
    });

    test.each([
      ["2026-07-28", 126],
      ["2025-11-25", 49],
    ])(
      "set %s: at least %i checks pass and no more fail than are expected to",
      async (set, least) => {
        const run = await runSuite(proxy.port, set, join(out, set));
        const { passed } = countChecks(join(out, set));
        expect(run.exitCode, run.output).toBe(0);
        expect(passed).toBeGreaterThanOrEqual(least);
      },
      180_000,
    );
  },
);

const CONFORMANCE_TOOLS = [
  "test_simple_text",
  "test_image_content",
  "test_audio_content",
  "test_embedded_resource",
  "test_multiple_content_types",
  "test_error_handling",
  "test_tool_with_progress",
  "test_x_mcp_header",
  "test_structured",
  "json_schema_2020_12_tool",
  "test_missing_capability",
  "test_streaming_elicitation",
  "test_logging_tool",
];

function runSuite(port: number, set: string, out: string): Promise<{ exitCode: number; output: string }> {
  const url = `http://localhost:${port}/mcp/conformance`;
  const baseline = here(`expected-${set}.yaml`);
  const args = [SUITE, "server", "--url", url, "--requirements", set, "-o", out, "--expected-failures", baseline];
  return new Promise((resolve) => {
    execFile(NODE, args, { maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      const summary = stdout.slice(Math.max(0, stdout.indexOf("=== SUMMARY")));
      resolve({ exitCode: error === null ? 0 : Number(error.code ?? 1), output: `${summary}\n${stderr}` });
    });
  });
}

function countChecks(out: string): { passed: number; failed: number } {
  const count = { passed: 0, failed: 0 };
  for (const folder of readdirSync(out)) {
    const checks = JSON.parse(readFileSync(join(out, folder, "checks.json"), "utf8")) as { status: string }[];
    count.passed += checks.filter(({ status }) => status === "SUCCESS").length;
    count.failed += checks.filter(({ status }) => status === "FAILURE").length;
  }
  return count;
}
