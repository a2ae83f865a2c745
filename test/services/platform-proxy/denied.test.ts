import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import type { Adapter, RestRequest, Session } from "../../../services/platform-proxy/adapter.js";
import { createIdentities } from "../../../services/platform-proxy/identity.js";
import { deniedByRoute } from "../../../services/platform-proxy/lib/denied-routes.js";
import { openPlatform } from "../../../services/platform-proxy/platform.js";
import { createOpenaevAdapter } from "../../../services/platform-proxy/platforms/aev/adapter.js";
import { createOpenctiAdapter } from "../../../services/platform-proxy/platforms/cti/adapter.js";
import { createCisoAdapter } from "../../../services/platform-proxy/platforms/grc/adapter.js";

// Nobody administers a platform through a tool. Which tools there are is the
// API's own list, reviewed in the snapshots; here it is planted that one reaches
// for administration all the same.

const TENANT = "7afcd113-a838-4ade-a5c5-9882ee2deba6";

/** A platform that answers everything, and what reached it. */
function opened(real: Adapter) {
  const sent: unknown[] = [];
  const answer = async (_: Session, exchange: unknown) => sent.push(exchange);
  const adapter = {
    ...real,
    whoAmI: async () => ({ email: "ana@example.org", me: {} }),
    ...(real.graphql !== undefined && { graphql: answer }),
    ...(real.rest !== undefined && { rest: answer }),
  } as unknown as Adapter;
  const session = {
    caller: { id: "u1", email: "ana@example.org" },
    target: { server: real.server, url: "http://127.0.0.1:1" },
    signal: new AbortController().signal,
    tool: "Planted",
  } as unknown as Session;
  return { platform: openPlatform(adapter, session, createIdentities()), sent };
}

const documentOf = (text: string) => ({ text, writes: text.startsWith("mutation") });
const denied = { code: Code.Internal, rawMessage: expect.stringContaining("no tool may do") };

describe.each([
  "mutation { userAdd(input: {}) { id } }",
  "mutation { userEdit(id: 1) { delete } }",
  "mutation { harmless: groupAdd(input: {}) { id } }",
  "mutation { roleAdd(input: {}) { id } }",
  "mutation { organizationRelationAdd(id: 1) { id } }",
  "mutation { playbookAdd(input: {}) { id } }",
  "mutation { workspaceAdd(input: {}) { id } }",
  "mutation { notifierAdd(input: {}) { id } }",
  "mutation { settingsEdit(id: 1) { id } }",
  "mutation { ingestionRssAdd(input: {}) { id } }",
  "mutation { feedAdd(input: {}) { id } }",
  "mutation { streamCollectionAdd(input: {}) { id } }",
  "mutation { registerConnector(input: {}) { id } }",
  "mutation { draftWorkspaceAdd(input: {}) { id } }",
  "query { me { id } users { edges { node { id } } } }",
  "query A { ... on Query { settings { id } } }",
  "query A { ...F } fragment F on Query { ...G } fragment G on Query { roles { id } }",
])("on cti, %s", (document) => {
  test("is refused and not sent", async () => {
    const { platform, sent } = opened(createOpenctiAdapter());
    await expect(platform.graphql(documentOf(document), {})).rejects.toMatchObject(denied);
    await expect(platform.graphql(documentOf(document), {})).rejects.toMatchObject(denied);
    expect(sent).toEqual([]);
  });
});

test.each([
  "query { me { id } }",
  "query { groupings { edges { node { id } } } }",
  "mutation { groupingAdd(input: {}) { id } }",
  "mutation { organizationAdd(input: {}) { id } }",
  "mutation { labelAdd(input: {}) { id } }",
  "query { logs { edges { node { id } } } }",
  "query { stixCoreObjects { edges { node { createdBy { id } } } } }",
])("on cti, %s is sent", async (document) => {
  const { platform, sent } = opened(createOpenctiAdapter());
  await platform.graphql(documentOf(document), {});
  expect(sent).toEqual([documentOf(document)]);
});

type Case = [server: "aev" | "grc", verb: RestRequest["verb"], path: string, read?: boolean];
const ADAPTERS: Readonly<Record<"aev" | "grc", () => Adapter>> = { aev: createOpenaevAdapter, grc: createCisoAdapter };

test.each<Case>([
  ["aev", "GET", "/api/users"],
  ["aev", "POST", `/api/tenants/${TENANT}/users/search`, true],
  ["aev", "POST", `/api/tenants/${TENANT}/groups`],
  ["aev", "PUT", "/api/roles/x"],
  ["aev", "POST", "/api/platform-users"],
  ["aev", "POST", "/api/tenants"],
  ["aev", "DELETE", `/api/tenants/${TENANT}`],
  ["aev", "POST", `/api/tenants/${TENANT}/organizations`],
  ["aev", "PUT", "/api/settings/policies"],
  ["aev", "POST", `/api/tenants/${TENANT}/connector-instances`],
  ["aev", "POST", `/api/tenants/${TENANT}/custom-dashboards`],
  ["aev", "PUT", "/api/me/profile"],
  ["aev", "GET", "/login/oauth"],
  ["aev", "GET", `/api/tenants/${TENANT}/scenarios/../users`],
  ["aev", "GET", `/api/tenants/${TENANT}/scenarios/%2e%2e/users`],
  ["aev", "GET", "/api//users"],
  ["grc", "GET", "/api/users/"],
  ["grc", "POST", "/api/user-groups/"],
  ["grc", "GET", "/api/role-assignments/"],
  ["grc", "PATCH", "/api/settings/general/"],
  ["grc", "POST", "/api/folders/"],
  ["grc", "DELETE", `/api/folders/${TENANT}/`],
  ["grc", "POST", "/api/iam/auth-tokens/"],
  ["grc", "GET", "/api/metrology/dashboards/"],
  ["grc", "POST", "/api/serdes/full-restore/"],
  ["grc", "GET", "/serdes/dump-db/"],
])("on %s, %s %s is refused and not sent", async (server, verb, path, read) => {
  const { platform, sent } = opened(ADAPTERS[server]());
  const request = { verb, path, ...(read !== undefined && { read }) };
  await expect(platform.rest(request)).rejects.toMatchObject(denied);
  expect(sent).toEqual([]);
});

test.each<Case>([
  ["aev", "POST", `/api/tenants/${TENANT}/organizations/search`, true],
  ["aev", "GET", `/api/tenants/${TENANT}/collectors`],
  ["aev", "PUT", `/api/tenants/${TENANT}/asset_groups/x`],
  ["aev", "DELETE", `/api/tenants/${TENANT}/scenarios/x`],
  ["grc", "GET", "/api/folders/"],
  ["grc", "GET", "/api/actors/"],
  ["grc", "GET", "/api/entities/"],
  ["grc", "POST", "/api/applied-controls/"],
])("on %s, %s %s is sent", async (server, verb, path, read) => {
  const { platform, sent } = opened(ADAPTERS[server]());
  const request = { verb, path, ...(read !== undefined && { read }) };
  await platform.rest(request);
  expect(sent).toEqual([request]);
});

test("a route of two parts is denied without what stands beside it", () => {
  const isDenied = deniedByRoute({ all: new Set(["a/b"]), writes: new Set() });
  expect(["/api/a/b/", "/api/a/b", "/api/a/c/", "/api/a/"].map((path) => isDenied({ verb: "GET", path }))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("every platform denies something", () => {
  for (const { server, deniesDocument, deniesRequest } of [
    createOpenctiAdapter(),
    createOpenaevAdapter(),
    createCisoAdapter(),
  ]) {
    expect({ server, denies: deniesDocument ?? deniesRequest }).toEqual({ server, denies: expect.any(Function) });
  }
});

test("a platform that does not say what administers it is sent nothing", async () => {
  const { deniesRequest: _, ...silent } = createOpenaevAdapter();
  const { platform, sent } = opened(silent);
  await expect(platform.rest({ verb: "GET", path: "/api/me" })).rejects.toMatchObject(denied);
  expect(sent).toEqual([]);
});
