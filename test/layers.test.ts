import { describe, expect, test } from "vitest";
import { type Import, importsOf, RULES, readImports } from "./support/layers.js";

const imports = readImports(["facade", "services", "clients"]);

/** For each rule, imports that break it. */
const VIOLATIONS: Readonly<Record<keyof typeof RULES, readonly string[]>> = {
  "there are no circles": ["services/auth/a.ts → services/auth/b.ts", "services/auth/b.ts → services/auth/a.ts"],
  "services do not know each other, nor does the proxy know the sandbox": [
    "services/auth/service.ts → services/traces/store.ts",
    "services/platform-proxy/service.ts → services/sandbox/start.ts",
    "services/sandbox/cti/server.ts → services/platform-proxy/lib/http.ts",
  ],
  "what services share knows no service": ["services/shared/rpc/call.ts → services/auth/scopes.ts"],
  "platforms do not know each other, and the proxy finds them by name": [
    "services/platform-proxy/platforms/aev/adapter.ts → services/platform-proxy/platforms/cti/text.ts",
    "services/platform-proxy/parts.ts → services/platform-proxy/platforms/cti/platform.ts",
  ],
  "sandboxes do not know each other": ["services/sandbox/aev/server.ts → services/sandbox/grc/world.ts"],
  "nothing knows the launcher but the entry": ["services/auth/service.ts → services/launcher/config.ts"],
  "façade and clients know, of services, only what services share": [
    "facade/facade.ts → services/catalogue/visibility.ts",
    "clients/cli/main.ts → services/auth/scopes.ts",
  ],
  "nothing knows the façade but the launcher, and nothing knows the clients": [
    "services/traces/service.ts → facade/http/edge.ts",
    "facade/facade.ts → clients/node/grpc.ts",
  ],
  "only the façade's edge and the lane between processes know µWebSockets.js": [
    "facade/http/pages.ts → uWebSockets.js",
    "services/shared/rpc/lane/lane.ts → uWebSockets.js",
  ],
  "only the guard of outgoing addresses opens connections by undici": [
    "services/core-objects/runs/outgoing.ts → undici",
    "services/platform-proxy/lib/http.ts → undici",
    "clients/load/opening.ts → undici",
  ],
  "what reads others' answers runs apart": [
    "services/core-objects/runs/tools/remote-tools.ts → @modelcontextprotocol/sdk/client/index.js",
    "services/core-objects/runs/model.ts → openai",
    "services/core-objects/knowledge/extract.ts → unpdf",
    "services/core-objects/knowledge/passages.ts → htmlparser2",
    "services/core-objects/knowledge/built-in-embedder.ts → @energetic-ai/embeddings",
    "services/traces/store.ts → ajv/dist/2020.js",
  ],
  "what runs apart is loaded by what runs apart alone": [
    "services/core-objects/runs/model.ts → services/core-objects/runs/apart/models.ts",
    "services/traces/store.ts → services/shared/isolation/apart/bounded-fetch.ts",
  ],
  "the launcher starts built-in platforms in a thread": [
    "services/launcher/platforms.ts → services/sandbox/start.ts",
    "services/launcher/start.ts → services/sandbox/cti/server.ts",
  ],
  "threads and processes are started by what bounds them": [
    "services/core-objects/runs/model.ts → node:worker_threads",
    "services/core-objects/knowledge/extract.ts → node:child_process",
  ],
  "only the store knows a database; what its interface borrows of the driver's types, it hands on": [
    "services/auth/store.ts → mongodb",
    "services/traces/store.ts → mingo/updater",
  ],
};

test("the sources are found", () => {
  expect(imports.length).toBeGreaterThan(1_000);
});

test("imports are found in every form", () => {
  const text = [
    'import "./a.js";',
    'import { b } from "./b.js";',
    'import type { C } from "../c.js";',
    'import {\n  d,\n  type E,\n} from "d";',
    'export type { F } from "./f.js";',
    'export * from "./g.js";',
    'const { h } = await import("./h.js");',
    'type I = import("./i.js").I;',
  ];
  const found = importsOf("services/x/y.ts", text.join("\n")).map(({ to }) => to);
  const own = ["a", "b", "f", "g", "h", "i"].map((name) => `services/x/${name}.ts`);
  expect(found.sort()).toEqual([...own, "d", "services/c.ts"].sort());
});

describe.each(Object.entries(RULES))("%s", (name, rule) => {
  test("it holds", () => {
    expect(rule(imports)).toEqual([]);
  });

  test("it fails on a planted violation", () => {
    const planted = (VIOLATIONS[name] ?? []).map((line): Import => {
      const [from, to] = line.split(" → ") as [string, string];
      return { from, to };
    });
    expect(planted).not.toEqual([]);
    const found = rule([...imports, ...planted]);
    for (const { from, to } of planted) expect(found.join("\n")).toContain(`${from} → ${to}`);
  });
});
