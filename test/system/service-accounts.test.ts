import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { AuditKind, AuditService } from "#proto/auth/v1/audit_service_pb.js";
import { ServiceAccountService } from "#proto/auth/v1/service_account_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { Health } from "#proto/grpc/health/v1/health_pb.js";
import { ServerReflection, ServerReflectionRequestSchema } from "#proto/grpc/reflection/v1/reflection_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { accountCredential, asAccount, type ServiceAccount } from "../../clients/node/service-account.js";
import { run } from "../support/foreign.js";
import { type Program, startProgram } from "../support/program.js";

// An internal system at the gRPC port of the program as it is shipped.

let program: Program;
let analystId: string;
beforeAll(async () => {
  program = await startProgram();
  const { caller } = await client(ApiKeyService, program.bootstrap.analyst.api_key).whoAmI({});
  analystId = caller!.id;
});
afterAll(() => program.stop());

const client: <S extends Parameters<typeof connectClient>[0]>(
  service: S,
  apiKey: string | ServiceAccount,
  protocol?: "connect" | "grpc",
) => ReturnType<typeof connectClient<S>> = (service, apiKey, protocol = "grpc") =>
  connectClient(service, { baseUrl: program.bootstrap.grpc_url, apiKey, protocol });
const accounts = () => client(ServiceAccountService, program.bootstrap.admin.api_key);

let made = 0;
async function newSystem(names: string[], keys: { publicKey: KeyObject; privateKey: KeyObject }, actFor = "") {
  const name = `svc:system-${made++}`;
  const jwk = { ...keys.publicKey.export({ format: "jwk" }), kid: "first" };
  const { account } = await accounts().createServiceAccount({
    ...{ name, jwks: JSON.stringify({ keys: [jwk] }), methods: { names }, act: { users: [analystId] } },
  });
  const { privateKey: key } = keys;
  const system: ServiceAccount = { name, audience: program.baseUrl, key, kid: "first", actFor };
  return { id: account!.id, system };
}
const ed25519 = () => generateKeyPairSync("ed25519");

/** A stream both ways that stays open; resolves with how it ended. */
async function openStream(system: ServiceAccount) {
  const baseUrl = program.bootstrap.grpc_url;
  const credential = accountCredential(createGrpcTransport({ baseUrl }), system);
  const assertion = await credential.assertionFor(ServerReflection);
  const present: Interceptor = (next) => (request) => {
    request.header.set("x-caller", assertion);
    return next(request);
  };
  const stream = createClient(ServerReflection, createGrpcTransport({ baseUrl, interceptors: [present] }));
  let first!: () => void;
  const answered = new Promise<void>((resolve) => {
    first = resolve;
  });
  const ask = async function* () {
    yield create(ServerReflectionRequestSchema, { messageRequest: { case: "listServices", value: "" } });
    await new Promise(() => undefined);
  };
  const ended = (async () => {
    for await (const _ of stream.serverReflectionInfo(ask())) first();
  })().then(
    () => undefined,
    (error: unknown) => ConnectError.from(error),
  );
  return { answered: Promise.race([answered, ended]), ended };
}

test.each([
  ["EdDSA", ed25519],
  ["ES256", () => generateKeyPairSync("ec", { namedCurve: "P-256" })],
  ["RS256", () => generateKeyPairSync("rsa", { modulusLength: 2_048 })],
])("the client signs by %s, and the account owns what it makes", async (_, keys) => {
  const { id, system } = await newSystem(["core.v1.AgentService/*", "auth.v1.ApiKeyService/WhoAmI"], keys());
  for (const protocol of ["grpc", "connect"] as const) {
    expect((await client(ApiKeyService, system, protocol).whoAmI({})).caller).toMatchObject({ id, service: true });
  }
  const { agents } = await client(AgentService, system).listAgents({});
  expect(agents.length).toBeGreaterThan(0);
});

test("the list stands before unary and streaming rpcs and reflection; health is for everybody", async () => {
  const { system } = await newSystem(["auth.v1.ApiKeyService/WhoAmI"], ed25519());
  await expect(client(AgentService, system).listAgents({})).rejects.toMatchObject({ code: Code.PermissionDenied });
  const { ended } = await openStream(system);
  expect(await ended).toMatchObject({
    code: Code.PermissionDenied,
    rawMessage: expect.stringMatching(/ServerReflectionInfo is not on the method list of the service account svc:/),
  });
  const baseUrl = program.bootstrap.grpc_url;
  const present = asAccount(accountCredential(createGrpcTransport({ baseUrl }), system));
  const transport = createConnectTransport({ baseUrl, httpVersion: "2", interceptors: [present] });
  expect((await createClient(Health, transport).check({})).status).toBe(1);
});

test.each(["disabled", "deleted", "its user disabled", "its grant taken back"])(
  "a stream that is open ends at once: %s",
  async (how) => {
    const acts = how.startsWith("its");
    const users = client(UserService, program.bootstrap.admin.api_key);
    const { user } = await users.createUser({ email: `live-${made}@example.org`, name: "Live" });
    const { id, system } = await newSystem(
      ["grpc.reflection.v1.ServerReflection/*", "core.v1.AgentService/ListAgents"],
      ed25519(),
    );
    await accounts().updateServiceAccount({ id, act: { users: [user!.id] } });
    const { answered, ended } = await openStream({ ...system, actFor: acts ? user!.id : "" });
    expect(await answered).toBeUndefined();
    // What another service keeps under its lease.
    const agents = client(AgentService, { ...system, actFor: acts ? user!.id : "" });
    await agents.listAgents({});
    const begun = performance.now();
    if (how === "disabled") await accounts().updateServiceAccount({ id, disabled: true });
    else if (how === "deleted") await accounts().deleteServiceAccount({ id });
    else if (how === "its user disabled") await users.updateUser({ id: user!.id, disabled: true });
    else await accounts().updateServiceAccount({ id, act: {} });
    await expect(agents.listAgents({})).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(await ended).toMatchObject({ code: Code.Unauthenticated });
    expect(performance.now() - begun).toBeLessThan(3_000);
  },
);

test("what it does for a user is in the audit with both names, reads too", async () => {
  const { system } = await newSystem(["core.v1.AgentService/*"], ed25519(), analystId);
  const agents = client(AgentService, system);
  await agents.listAgents({});
  await agents.createAgent({ name: "Made by a system" });
  const audit = client(AuditService, program.bootstrap.admin.api_key);
  const { email } = program.bootstrap.analyst;
  await expect
    .poll(async () => {
      const { records } = await audit.listAuditRecords({ userEmail: email, kind: AuditKind.READ });
      return records.map(({ action, serviceAccount }) => [action, serviceAccount]);
    })
    .toContainEqual(["core.v1.AgentService/ListAgents", system.name]);
  await expect
    .poll(async () => (await audit.listAuditRecords({ userEmail: email, kind: AuditKind.WRITE })).records[0])
    .toMatchObject({ action: "core.v1.AgentService/CreateAgent", serviceAccount: system.name });
});

test("an administrator makes, changes, lists and deletes one by commands", async () => {
  const cli = async (...args: string[]) => {
    const env = { ...process.env, DATA_DIR: program.dataDir };
    const done = await run(process.execPath, ["dist/clients/cli/main.js", "service-accounts", ...args, "--json"], {
      env,
    });
    return { ...done, json: done.stdout === "" ? undefined : JSON.parse(done.stdout) };
  };
  const path = join(program.dataDir, "soar.jwks.json");
  const jwk = { ...ed25519().publicKey.export({ format: "jwk" }), kid: "2026" };
  writeFileSync(path, JSON.stringify({ keys: [jwk] }));
  const named = ["create", "--name", "svc:soar", "--keys", path];
  expect((await cli(...named, "--methods", "core.v1.AgentService/ListAgent")).stderr).toContain("ListAgents");
  const made = await cli(...named, "--methods", "core.v1.AgentService/*", "--act-groups", "Analysts");
  expect(made.json).toMatchObject({ name: "svc:soar", keys: [{ kid: "2026", alg: "EdDSA" }], act_users: [] });
  const changed = await cli("update", "svc:soar", "--disabled", "yes", "--methods", "");
  expect(changed.json).toMatchObject({ disabled: true, methods: [], act_groups: made.json.act_groups });
  const names = async () => (await cli("list")).json.service_accounts.map(({ name }: { name: string }) => name);
  expect(await names()).toContain("svc:soar");
  expect((await cli("delete", "svc:soar")).json).toMatchObject({ name: "svc:soar", deleted: true });
  expect(await names()).not.toContain("svc:soar");
  expect((await cli("delete", "svc:soar")).code).toBe(4);
});

/** Calls again and again by one connection, up to so many times; how many were answered before it was hung up on. */
async function answeredOf(path: string, body: object, times: number): Promise<number> {
  const session = connect(program.bootstrap.grpc_url).on("error", () => undefined);
  let answered = 0;
  while (answered < times && !session.closed && !session.destroyed) {
    const request = session.request({ ":method": "POST", ":path": path, "content-type": "application/json" });
    const gone = new Promise<false>((resolve) =>
      request.once("close", () => resolve(false)).on("error", () => undefined),
    );
    const reply = new Promise<true>((resolve) => request.once("response", () => resolve(true)));
    request.end(JSON.stringify(body));
    request.resume();
    if (!(await Promise.race([reply, gone]))) break;
    await gone;
    answered++;
  }
  session.destroy();
  return answered;
}

test("who goes on with forgeries is hung up on, at the cost of the address, as with bad tokens", async () => {
  expect(await answeredOf("/grpc.health.v1.Health/Check", {}, 60)).toBe(60);
  const forgery = { clientAssertion: "a.b.c" };
  const path = "/auth.v1.ServiceAccountService/ExchangeClientAssertion";
  expect(await answeredOf(path, forgery, 60)).toBeLessThanOrEqual(32);
});
