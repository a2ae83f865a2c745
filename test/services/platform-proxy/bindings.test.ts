import { getOption } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { scope } from "#proto/auth/v1/access_pb.js";
import { routes as coreRoutes } from "../../../services/core-objects/routes.js";
import { loadKinds } from "../../../services/core-objects/service.js";
import type { Binding } from "../../../services/platform-proxy/binding.js";
import { bindingProblem, loadPlatform } from "../../../services/platform-proxy/parts.js";
import { keyOf } from "../../../services/shared/rpc/in-process.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { routes as traceRoutes } from "../../../services/traces/routes.js";

const tools = readTools(readImage());
const toolsOf = (server: string) => tools.filter((tool) => tool.server === server).map((tool) => keyOf(tool.method));

test.each([
  ["cti", 25],
  ["aev", 12],
  ["grc", 10],
] as const)("every tool of %s has exactly one binding, and nothing else has", async (server, atLeast) => {
  const { bindings, adapter } = await loadPlatform(server);
  expect(adapter.server).toBe(server);
  expect(bindings.map((binding) => keyOf(binding.method)).sort()).toEqual(toolsOf(server).sort());
  expect(bindings.length).toBeGreaterThanOrEqual(atLeast);
});

test("a tool without a binding, or with two, is named, and so is what is no tool", async () => {
  const { bindings } = await loadPlatform("aev");
  const [first, ...others] = bindings as [Binding, ...Binding[]];
  const name = keyOf(first.method);
  const where = "services/platform-proxy/platforms/aev/tools";
  expect(bindingProblem("aev", bindings, tools)).toBeUndefined();
  expect(bindingProblem("aev", others, tools)).toBe(
    `${name} has no binding in ${where}: add one to the bindings that a file there exports`,
  );
  expect(bindingProblem("aev", [...bindings, first], tools)).toBe(`${name} has two bindings in ${where}: remove one`);
  expect(bindingProblem("grc", (await loadPlatform("grc")).bindings.concat(first), tools)).toContain(
    `${name} is bound in`,
  );
});

test("every tool of core is answered by a method", async () => {
  const methods = [...coreRoutes({ kinds: await loadKinds() } as never), ...traceRoutes({} as never)];
  const answered = new Set(methods.map((method) => keyOf(method.desc)));
  expect(toolsOf("core").filter((key) => !answered.has(key))).toEqual([]);
});

test("a tool that writes needs the write scope of its server, one that reads the read scope", () => {
  const wrong = tools.filter(
    (tool) => getOption(tool.method, scope) !== `${tool.server}:${tool.readOnly ? "read" : "write"}`,
  );
  expect(wrong.map((tool) => `${tool.server}/${tool.name}`)).toEqual([]);
});
