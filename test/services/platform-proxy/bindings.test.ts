import { getOption } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { scope } from "#proto/auth/v1/access_pb.js";
import { routesOf as coreRoutes } from "../../../services/core-objects/routes.js";
import { aevBindings } from "../../../services/platform-proxy/platforms/aev/tools/all.js";
import { ctiBindings } from "../../../services/platform-proxy/platforms/cti/tools/all.js";
import { grcBindings } from "../../../services/platform-proxy/platforms/grc/tools/all.js";
import { keyOf } from "../../../services/shared/rpc/in-process.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { routesOf as traceRoutes } from "../../../services/traces/routes.js";

const tools = readTools(readImage());
const toolsOf = (server: string) => tools.filter((tool) => tool.server === server).map((tool) => keyOf(tool.method));

test.each([
  ["cti", ctiBindings, 25],
  ["aev", aevBindings, 12],
  ["grc", grcBindings, 10],
])("every tool of %s has exactly one binding, and nothing else has", (server, bindings, atLeast) => {
  expect(bindings.map((binding) => keyOf(binding.method)).sort()).toEqual(toolsOf(server).sort());
  expect(bindings.length).toBeGreaterThanOrEqual(atLeast);
});

test("every tool of core is answered by a method", () => {
  const methods = [...coreRoutes({} as never, {} as never), ...traceRoutes({} as never)];
  const answered = new Set(methods.map((method) => keyOf(method.desc)));
  expect(toolsOf("core").filter((key) => !answered.has(key))).toEqual([]);
});

test("a tool that writes needs the write scope of its server, one that reads the read scope", () => {
  const wrong = tools.filter(
    (tool) => getOption(tool.method, scope) !== `${tool.server}:${tool.readOnly ? "read" : "write"}`,
  );
  expect(wrong.map((tool) => `${tool.server}/${tool.name}`)).toEqual([]);
});

test("nobody administers a platform through a tool", () => {
  const forbidden = /user|group|role|organization|playbook|dashboard|workspace|notification|connector|setting|ingest/;
  const named = tools.filter((tool) => tool.server !== "core" && forbidden.test(tool.name));
  expect(named.map((tool) => `${tool.server}/${tool.name}`)).toEqual([]);
});
