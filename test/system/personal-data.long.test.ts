import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../support/foreign.js";
import { type Program, startProgram } from "../support/program.js";

// A person's data at a shell, with the whole service behind it: exported, erased, and the erasure cut off by kill -9.

let program: Program;
const EMAIL = "remembered@example.org";
const CONTENT = "sentinel-of-content-in-the-store";
const SECRET = "sentinel-of-a-secret-in-the-store";
const VARIABLES = 150;
let key: string;

const cli = async (...args: string[]) => {
  const env = { ...process.env, DATA_DIR: program.dataDir };
  return run(process.execPath, ["dist/clients/cli/main.js", ...args], { env });
};
const json = async (...args: string[]) => JSON.parse((await cli(...args, "--json")).stdout);
const post = (path: string, body: unknown) =>
  fetch(`${program.baseUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
async function rpc(path: string, request: object) {
  const reply = await post(`/rpc/core.v1.${path}`, request);
  expect(reply.status).toBe(200);
  return (await reply.json()) as Record<string, { id: string }>;
}

beforeAll(async () => {
  program = await startProgram({ env: { SANDBOX: "off" }, keepData: true });
  await json("settings", "set", "core", "on");
  await json("users", "create", "--email", EMAIL, "--name", CONTENT);
  key = (await json("keys", "create", "--user", EMAIL, "--name", "laptop", "--expires", "1d")).api_key;
  await rpc("VariableService/CreateVariable", { name: "TOKEN", value: SECRET, secret: true });
  for (let n = 0; n < VARIABLES; n++) await rpc("VariableService/CreateVariable", { name: `V${n}`, value: CONTENT });
  const base = await rpc("KnowledgeBaseService/CreateKnowledgeBase", { name: "Notes" });
  const knowledgeBaseId = base.knowledgeBase!.id;
  await rpc("DocumentService/CreateDocument", { knowledgeBaseId, name: "Mine", content: `${CONTENT} of ${EMAIL}` });
  const attribute = (name: string, stringValue: string) => ({ key: name, value: { stringValue } });
  const span = {
    traceId: "5b8efff798038103d269b633813fc60c",
    spanId: "eee19b7ec3c1b174",
    name: "chat",
    kind: 1,
    startTimeUnixNano: `${Date.now()}000000`,
    endTimeUnixNano: `${Date.now() + 5}000000`,
    attributes: [
      attribute("gen_ai.operation.name", "chat"),
      attribute("gen_ai.output.messages", `${CONTENT} ${EMAIL} `.repeat(2_000)),
    ],
  };
  const sent = await post("/v1/traces", { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
  expect(sent.status).toBe(200);
});
afterAll(async () => {
  await program?.stop();
  program?.forget();
});

test("an export holds everything and no secret", async () => {
  const { code, stdout } = await cli("users", "export", EMAIL, "--json");
  expect(code).toBe(0);
  const lines = stdout
    .trim()
    .split("\n")
    .map((one) => JSON.parse(one) as { service: string; kind: string; record: object });
  const kinds = new Set(lines.map(({ service, kind }) => `${service}/${kind}`));
  for (const kind of ["auth/user", "auth/api_key", "auth/audit_record", "core/variable", "core/knowledge_base"])
    expect(kinds).toContain(kind);
  for (const kind of ["core/document", "core/document_text", "traces/trace", "traces/span"])
    expect(kinds).toContain(kind);
  expect(lines.filter(({ kind }) => kind === "variable")).toHaveLength(VARIABLES + 1);
  for (const secret of [SECRET, key.split("_")[2]!]) expect(stdout).not.toContain(secret);
  // What a span says that is longer than a page comes as its bytes.
  const pages = lines.filter(({ record }) => "page" in record) as unknown as { record: { bytes: string } }[];
  expect(Buffer.concat(pages.map(({ record }) => Buffer.from(record.bytes, "base64"))).toString()).toContain(CONTENT);
});

test("an erasure that kill -9 cuts off is finished by the same command; a backup then names the person in the audit alone", async () => {
  const refused = await cli("users", "erase", EMAIL);
  expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining("disable or delete the user first")]);
  await json("users", "disable", EMAIL);
  const planned = await json("users", "erase", EMAIL, "--dry-run");
  const outcomes = new Map(planned.records.map((one: { kind: string; outcome: string }) => [one.kind, one.outcome]));
  expect(outcomes.get("variable")).toBe("would be deleted");
  expect(outcomes.get("audit_record")).toBe("stays");

  const cut = cli("users", "erase", EMAIL, "--json");
  await sleep(900);
  program.process.kill("SIGKILL");
  await cut;
  const { dataDir } = program;
  await program.stop();
  program = await startProgram({ env: { SANDBOX: "off" }, dataDir, keepData: true });
  const done = await cli("users", "erase", planned.user_id, "--json");
  expect([done.code, done.stderr]).toEqual([0, ""]);
  expect((await json("users", "erase", planned.user_id, "--dry-run")).records).toEqual([]);
  expect((await cli("users", "export", planned.user_id, "--json")).stdout).toBe("");

  const copy = join(dataDir, "copy");
  await json("backup", "create", copy);
  const bytes = readdirSync(copy, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  expect(bytes.reduce((sum, one) => sum + one.length, 0)).toBeGreaterThan(10_000);
  for (const file of bytes) expect(file.includes(CONTENT)).toBe(false);
  const audited = await json("audit", "list", "--user", EMAIL);
  expect(audited.records.length).toBeGreaterThan(0);
});
