import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { explain } from "../../../services/shared/tools/explain.js";
import { startAevAt } from "../../support/platforms/aev.js";
import type { Harness } from "../../support/platforms/harness.js";
import { refusal } from "../../support/platforms/refusal.js";
import { recorded } from "./platforms/aev/answering.js";

// Whatever a platform answers, a tool says something that its caller can read,
// and of a write never that it may simply be repeated.

const HTML = "<html><body><h1>502 Bad Gateway</h1></body></html>";
const WRONG: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "a page with 200": (response) => void response.end(HTML),
  "a page with 500": (response) => void response.writeHead(500).end(HTML),
  "an empty 500": (response) => void response.writeHead(500).end(),
  "a 501": (response) => void response.writeHead(501).end("{}"),
  "a 502": (response) => void response.writeHead(502).end(HTML),
  "a 504": (response) => void response.writeHead(504).end(HTML),
  "no answer": (response) => void response.destroy(),
  "half an answer": (response) => {
    response.writeHead(200, { "content-length": "1000" }).write('{"scenario_id":');
    setTimeout(() => response.destroy(), 20);
  },
  "half a gzip": (response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("{}".repeat(100)).subarray(0, 12));
  },
  "half a JSON": (response) => void response.end('{"content":['),
  "more than is read": (response) => void response.end(`"${"x".repeat(9 << 20)}"`),
  "more values than are parsed": (response) => void response.end(`[${"{},".repeat(300_000)}{}]`),
  "JSON without a bottom": (response) => void response.end("[".repeat(100_000) + "]".repeat(100_000)),
  null: (response) => void response.end("null"),
  "a list": (response) => void response.end("[null]"),
  "wrong types": (response) =>
    void response.end(
      '{"scenario_id":"1","scenario_name":{"a":1},"content":[{"scenario_id":"1","scenario_tags":3}],"totalElements":1}',
    ),
};

let server: Server;
let tenants: unknown = recorded("tenantsOfMember").answer;
let tools: Harness;
let answer = WRONG.null as (response: ServerResponse) => void;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    if (request.url === "/api/me") response.end(JSON.stringify(recorded("meOfMember").answer));
    else if (request.url === "/api/me/tenants") response.end(JSON.stringify(tenants));
    else answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
// One at a time, so that no breaker opens.
beforeEach(async () => {
  tools = await startAevAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterEach(() => tools.close());

const tenantId = "2cffad3a-0001-4078-b0e2-ef74274022c3";

describe.each(Object.keys(WRONG))("%s", (what) => {
  test("is told to who reads", async () => {
    answer = WRONG[what] as typeof answer;
    const error = await refusal(tools.call(ScenarioService.method.listScenarios, { tenantId }, "planner"));
    expect(explain(error)).toMatch(/OpenAEV|the aev platform/);
  });

  test("leaves who writes in no doubt that there is one", async () => {
    answer = WRONG[what] as typeof answer;
    const attempt = tools.call(ScenarioService.method.createScenario, { tenantId, name: "Drill" }, "planner");
    const said = explain(await refusal(attempt));
    expect(said).toContain("may or may not have been made: read before you try again");
    expect(said).not.toMatch(/; try again|; call again/);
  });
});

test.each(["", "../users", "a/b", 7, undefined])("a tenant called %j leads nowhere", async (tenant_id) => {
  const before = tenants;
  tenants = [{ tenant_id, tenant_name: "Default" }];
  const said = explain(await refusal(tools.call(ScenarioService.method.listScenarios, {}, "planner")));
  tenants = before;
  expect(said).toContain("OpenAEV did not say which account is calling");
});

test("a tenant that is none leads nowhere", async () => {
  const before = tenants;
  tenants = [null];
  const said = explain(await refusal(tools.call(ScenarioService.method.listScenarios, {}, "planner")));
  tenants = before;
  expect(said).toContain("OpenAEV did not say which account is calling");
});
