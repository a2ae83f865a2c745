import { getOption, hasOption } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scope } from "#proto/auth/v1/access_pb.js";
import { readImage } from "../../services/shared/tools/image.js";
import { call, toolNames } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// A key is narrowed to one scope; every rpc that reads, on the door that takes
// them all, is asked with it. What it may not ask is refused, and what it may
// holds nothing of what its scope does not cover.

const SERVERS = ["cti", "aev", "grc", "core"] as const;
const SCOPES = [...SERVERS.flatMap((server) => [`${server}:read`, `${server}:write`]), "traces:write"];
/** What everybody holds, whatever a key was narrowed to. */
const ALWAYS = ["account", "public"];

/** Every unary rpc of ours that changes nothing, with its scope. */
const READS = [...readImage()].flatMap((desc) =>
  desc.kind !== "service"
    ? []
    : desc.methods
        .filter((method) => method.methodKind === "unary" && method.idempotency === 1 && hasOption(method, scope))
        .map((method) => ({ path: `${desc.typeName}/${method.name}`, needs: getOption(method, scope) })),
);

let program: Program;
const keys = new Map<string, { id: string; token: string }>();
let hidden: { keyId: string; skillId: string; agentId: string };

beforeAll(async () => {
  program = await startProgram();
  const { admin, analyst } = program.bootstrap;
  for (const one of [...SCOPES, "account", "admin", "other"]) {
    const { body } = await rpc("auth.v1.ApiKeyService/CreateApiKey", admin.api_key, {
      name: `marked ${one}`,
      userEmail: one === "admin" ? admin.email : analyst.email,
      ...(one !== "other" && { scopes: [one] }),
    });
    const made = body as { key: { id: string }; token: string };
    keys.set(one, { id: made.key.id, token: made.token });
  }
  const core = `${program.baseUrl}/mcp/core`;
  const args = { name: "marked-skill", description: "marked", instructions: "marked" };
  const { skill } = await call<{ skill: { id: string } }>(core, analyst.api_key, "create_skill", args);
  const { agent } = await call<{ agent: { id: string } }>(core, analyst.api_key, "create_agent", {
    ...args,
    name: "marked agent",
    resource_ids: [skill.id],
  });
  hidden = { keyId: keys.get("other")?.id ?? "", skillId: skill.id, agentId: agent.id };
});
afterAll(() => program?.stop());

async function rpc(path: string, key: string, body: object = {}) {
  const reply = await fetch(`${program.baseUrl}/rpc/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  return { status: reply.status, text, body: JSON.parse(text) as Record<string, unknown> };
}
const tokenOf = (name: string) => keys.get(name)?.token ?? "";

/** What an rpc is asked that refuses an empty request of everybody but administrators. */
const BODIES: Readonly<Record<string, object>> = {
  "traces.v1.TraceInspectionService/InspectAgentTraces": { traceId: "none" },
};

test("there are rpcs to ask", () => {
  expect(READS.length).toBeGreaterThan(50);
});

describe.each([...SCOPES, "account"])("a key for %s alone", (held) => {
  test("is refused by every rpc of another scope", async () => {
    const answered: string[] = [];
    for (const { path, needs } of READS) {
      const { status, body } = await rpc(path, tokenOf(held), BODIES[path]);
      if (body.code !== "permission_denied") answered.push(`${path} (${needs}) ${status}`);
    }
    const may = READS.filter(({ needs }) => needs === held || ALWAYS.includes(needs)).map(({ path }) => path);
    expect(answered.map((one) => one.split(" ")[0]).sort()).toEqual(may.sort());
  });

  test("is shown nothing beside its scope", async () => {
    const seen: string[] = [];
    for (const { path } of READS.filter(({ needs }) => ALWAYS.includes(needs))) {
      for (const body of [{}, { server: "cti" }, { server: "core" }, { agentIds: [hidden.agentId] }]) {
        seen.push((await rpc(path, tokenOf(held), body)).text);
      }
    }
    const all = seen.join("\n");
    for (const id of [hidden.skillId, hidden.agentId]) expect(all).not.toContain(id);
    if (held !== "account") expect(all).not.toContain(hidden.keyId);
  });

  test("lists the platforms and tools of its own server", async () => {
    const { body } = await rpc("catalogue.v1.SettingService/ListPlatforms", tokenOf(held));
    const platforms = ((body.platforms ?? []) as { server: string }[]).map(({ server }) => server);
    expect(platforms).toEqual(SERVERS.filter((server) => server !== "core" && held.startsWith(`${server}:`)));
    for (const server of SERVERS) {
      const names = await toolNames(`${program.baseUrl}/mcp/${server}`, tokenOf(held)).catch(() => []);
      if (!held.startsWith(`${server}:`)) expect(names).toEqual([]);
    }
  });

  test("sees of its owner's keys itself, unless it has the scope account", async () => {
    const { body } = await rpc("auth.v1.ApiKeyService/ListApiKeys", tokenOf(held), { pageSize: 100 });
    const ids = (body.keys as { id: string }[]).map(({ id }) => id);
    if (held === "account") expect(ids).toContain(hidden.keyId);
    else expect({ ids, total: body.totalSize }).toEqual({ ids: [keys.get(held)?.id], total: 1 });
  });
});

test("a key that only writes is told what it wrote, not the names of what that refers to", async () => {
  const update = (key: string) =>
    rpc("core.v1.AgentService/UpdateAgent", key, { agentId: hidden.agentId, description: "again" });
  const { status, text } = await update(tokenOf("core:write"));
  expect(status).toBe(200);
  expect(text).toContain(hidden.skillId);
  expect(text).not.toContain("marked-skill");
  expect((await update(program.bootstrap.analyst.api_key)).text).toContain("marked-skill");
});

test("a key for administration lists keys and platforms, and no agents", async () => {
  const token = tokenOf("admin");
  const { analyst } = program.bootstrap;
  const listed = await rpc("auth.v1.ApiKeyService/ListApiKeys", token, { userEmail: analyst.email, pageSize: 100 });
  expect(listed.text).toContain(hidden.keyId);
  expect((await rpc("catalogue.v1.SettingService/ListPlatforms", token)).body.platforms).toHaveLength(3);
  expect((await rpc("core.v1.AgentService/ListAgents", token)).status).toBe(403);
});
