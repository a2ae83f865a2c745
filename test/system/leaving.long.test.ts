import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../support/foreign.js";
import { type Program, startProgram } from "../support/program.js";

// A person leaves: what an administrator sees and does at a shell, with the whole service behind it.

let program: Program;
const ids = new Map<string, string>();
const keys = new Map<string, string>();
const SECRET = "sentinel-of-a-secret";

const cli = async (...args: string[]) => {
  const env = { ...process.env, DATA_DIR: program.dataDir };
  const done = await run(process.execPath, ["dist/clients/cli/main.js", ...args, "--json"], { env });
  return { ...done, json: done.stdout === "" ? undefined : JSON.parse(done.stdout) };
};

async function rpc(path: string, who: string, request: object) {
  const reply = await fetch(`${program.baseUrl}/rpc/core.v1.${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${keys.get(who)}` },
    body: JSON.stringify(request),
  });
  return { status: reply.status, body: (await reply.json()) as Record<string, Record<string, unknown>> };
}

beforeAll(async () => {
  program = await startProgram();
  for (const name of ["leaver", "heir", "stranger"]) {
    const email = `${name}@example.org`;
    ids.set(name, (await cli("users", "create", "--email", email, "--name", name)).json.id);
    keys.set(name, (await cli("keys", "create", "--user", email, "--name", "laptop", "--expires", "1d")).json.api_key);
  }
  const made = await rpc("VariableService/CreateVariable", "leaver", { name: "TOKEN", value: SECRET, secret: true });
  expect(made.status).toBe(200);
  const daily = { name: "Daily", agentId: "builtin.threat-analyst", input: "Look.", schedule: "0 7 * * *" };
  expect((await rpc("AssignmentService/CreateAssignment", "leaver", daily)).status).toBe(200);
});
afterAll(() => program?.stop());

test("an administrator disables somebody, is told what is left, lists it, and hands it over", async () => {
  const refused = await cli("users", "hand-over", "leaver@example.org", "--to", "heir@example.org");
  expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining("can still sign in")]);
  const disabled = (await cli("users", "disable", "leaver@example.org")).json;
  expect(disabled).toMatchObject({
    disabled: true,
    belongings: 2,
    paused_schedules: 1,
    next: expect.stringContaining("users belongings leaver@example.org"),
  });
  const { json, stdout } = await cli("users", "belongings", "leaver@example.org");
  expect(json.belongings).toEqual([
    expect.objectContaining({ kind: "variable", name: "TOKEN", holds_secret: true }),
    expect.objectContaining({ kind: "assignment", name: "Daily", enabled: false, active: false }),
  ]);
  expect(stdout).not.toContain(SECRET);
  expect((await cli("users", "belongings", "leaver@example.org", "--kind", "variable")).json.belongings).toHaveLength(
    1,
  );

  const to = ["users", "hand-over", "leaver@example.org", "--to", "heir@example.org"];
  const both = await cli(...to, "--kind", "variable", "--id", "x");
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("give either --kind or --id")]);
  const planned = (await cli(...to, "--dry-run")).json.objects;
  expect(planned.map(({ outcome }: { outcome: string }) => outcome)).toEqual(Array(2).fill("would be handed over"));
  const [variable] = json.belongings as { id: string }[];
  const one = await cli(...to, "--id", variable!.id);
  expect([one.code, one.json.objects]).toEqual([
    0,
    [expect.objectContaining({ outcome: "handed over", notes: expect.stringContaining("secret value was deleted") })],
  ]);
  const again = (await cli(...to, "--id", variable!.id)).json.objects;
  expect(again).toEqual([expect.objectContaining({ outcome: "already owned" })]);
  expect((await rpc("VariableService/GetVariable", "heir", { variableId: variable!.id })).body.variable).toMatchObject({
    name: "TOKEN",
    lacksValue: true,
  });
});

test("a deleted person is found by the id, and by the address as long as the audit has it", async () => {
  const deleted = (await cli("users", "delete", "leaver@example.org")).json;
  expect(deleted).toMatchObject({ belongings: 1, next: expect.stringContaining(`belongings ${ids.get("leaver")}`) });
  for (const who of [ids.get("leaver")!, "leaver@example.org"])
    expect((await cli("users", "belongings", who)).json).toMatchObject({
      belongings: [{ kind: "assignment", name: "Daily" }],
      user_id: ids.get("leaver"),
    });
  const unknown = await cli("users", "belongings", "nobody@example.org");
  expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining("audit list --action DeleteUser")]);
  const { code, json } = await cli("users", "hand-over", ids.get("leaver")!, "--to", "heir@example.org");
  expect([code, json.objects]).toEqual([0, [expect.objectContaining({ kind: "assignment", outcome: "handed over" })]]);
  expect((await cli("users", "belongings", ids.get("leaver")!)).json.belongings).toEqual([]);
});

test("nobody but an administrator reaches it through the façade", async () => {
  const [userId, toUserId] = [ids.get("heir"), ids.get("stranger")];
  for (const who of ["heir", "stranger"]) {
    expect((await rpc("BelongingsService/ListBelongings", who, { userId })).status).toBe(403);
    expect((await rpc("BelongingsService/HandOver", who, { userId, toUserId, all: true })).status).toBe(403);
    expect((await rpc("BelongingsService/StopWork", who, { userId })).status).toBeGreaterThanOrEqual(403);
  }
});
