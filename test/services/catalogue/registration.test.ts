import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { as, neighbours, openStore, registration, startCatalogue } from "./rig.js";

let opened: Awaited<ReturnType<typeof openStore>>;
let dispatch: Dispatch;

beforeEach(async () => {
  opened = await openStore();
  dispatch = await startCatalogue(opened.store, neighbours(), {});
});
afterEach(() => opened.end());

const register = (token: string, fields = {}) => registration(dispatch)(token, fields);
const cti = { platformIdentifier: "opencti", platformUrl: "https://cti.example.com" };
const tokenFor = async (server: string) =>
  (await dispatch.unary(SettingService.method.createRegistrationToken, { name: "one", server }, as("admin"))).token;
/** Long enough after its last heartbeat that another platform may take its place. */
const forget = (server: string) =>
  opened.store.collection("platforms").updateOne({ _id: server }, { $set: { last_seen_at: new Date(0) } });
const refused = { code: Code.PermissionDenied };

test("a token made for one server registers no platform of another", async () => {
  const token = await tokenFor("aev");
  await expect(register(token, cti)).rejects.toMatchObject({
    ...refused,
    rawMessage: expect.stringMatching(/is for a aev platform.*create-token --server cti/),
  });
  expect(await register(token)).toMatchObject({ server: "aev" });
});

test("a token is made for a server that there is", async () => {
  await expect(tokenFor("core")).rejects.toMatchObject({ code: Code.InvalidArgument });
  await expect(tokenFor("")).rejects.toMatchObject({ code: Code.InvalidArgument });
});

test.each(["configured-token", "made"])("after its first use %s is that platform's alone", async (which) => {
  const token = which === "made" ? await tokenFor("aev") : which;
  await register(token, { platformId: "one" });
  await forget("aev");
  const other = { platformId: "two", platformUrl: "https://other.example.com" };
  await expect(register(token, other)).rejects.toMatchObject(refused);
  // Nor by another platform's address without an id, nor for another server.
  await expect(register(token, { platformUrl: "https://other.example.com" })).rejects.toMatchObject(refused);
  await expect(register(token, { ...cti, platformId: "one" })).rejects.toMatchObject(refused);
  await register(token, { platformId: "one", platformUrl: "https://moved.example.com" });
  expect(await register(await tokenFor("aev"), { platformId: "one" })).toMatchObject({ server: "aev" });
});

test("a platform that says no id is known by its address", async () => {
  await register("configured-token");
  await register("configured-token", { platformId: "one" });
  await forget("aev");
  await expect(register("configured-token", { platformUrl: "https://other.example.com" })).rejects.toMatchObject(
    refused,
  );
});

test("of two platforms that use a new token at once, one gets it", async () => {
  const token = await tokenFor("aev");
  const both = await Promise.allSettled(
    ["one", "two"].map((id) => register(token, { platformId: id, platformUrl: `https://${id}.example.com` })),
  );
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("a refused registration leaves the token to its platform", async () => {
  const token = await tokenFor("aev");
  await register("configured-token", { platformId: "one" });
  const other = { platformId: "two", platformUrl: "https://other.example.com" };
  await expect(register(token, other)).rejects.toMatchObject({ code: Code.FailedPrecondition });
  expect(await register(token, { platformId: "one" })).toMatchObject({ server: "aev" });
});

test("what was configured before is no token any more; what it was bound to is remembered", async () => {
  await register("configured-token", { platformId: "one" });
  dispatch = await startCatalogue(opened.store, neighbours(), {}, "another-token");
  await expect(register("configured-token", { platformId: "one" })).rejects.toMatchObject({
    code: Code.Unauthenticated,
  });
  await register("another-token", { platformId: "one" });
  dispatch = await startCatalogue(opened.store, neighbours(), {});
  await forget("aev");
  await expect(register("configured-token", { platformId: "two" })).rejects.toMatchObject(refused);
});

test("a token made before tokens were for a server is that of its first use", async () => {
  const { createHash } = await import("node:crypto");
  const digest = createHash("sha256").update("old").digest("base64url");
  await opened.store
    .collection("registration_tokens")
    .insertOne({ _id: "old", name: "old", digest, created_at: new Date() } as never);
  await register("old", { platformId: "one" });
  await expect(register("old", { ...cti, platformId: "one" })).rejects.toMatchObject(refused);
});

test.each([
  ["ftp://aev.example.com", /http/],
  ["http:/aev.example.com", /http/],
  ["https://user:secret@aev.example.com", /user name/],
  ["https://@aev.example.com", /user name/],
  ["https://aev.example.com/?a=1", /query/],
  ["https://aev.example.com/?", /query/],
  ["https://aev.example.com/#part", /fragment/],
  ["https://aev.example.com\\.example.org", /backslash|URL|valid/],
  ["http://169.254.169.254/latest/meta-data", /link-local address \(169\.254\.169\.254\)/],
  ["http://2852039166", /link-local/],
  ["http://0xa9fea9fe", /link-local/],
  ["http://0251.0376.0251.0376", /link-local/],
  ["http://169.254.169.254.", /link-local/],
  ["http://[::ffff:169.254.169.254]", /link-local|URI/],
  ["http://[::ffff:a9fe:a9fe]", /link-local/],
  ["http://[::a9fe:a9fe]", /link-local/],
  ["http://[64:ff9b::a9fe:a9fe]", /link-local/],
  ["http://[2002:a9fe:a9fe::]", /link-local/],
  ["http://[fe80::1]", /link-local/],
  ["http://[fd00:ec2::254]", /cloud metadata/],
  ["http://100.100.100.200", /cloud metadata/],
  ["http://168.63.129.16", /cloud metadata/],
  ["http://metadata.google.internal", /cloud metadata/],
  ["http://METADATA.google.internal.", /cloud metadata/],
  ["http://224.0.0.1", /multicast/],
  ["http://[ff02::1]", /multicast/],
  ["http://0", /unspecified/],
  ["http://[::]", /unspecified/],
  ["http://255.255.255.255", /reserved/],
])("a platform cannot be at %s", async (platformUrl, said) => {
  await expect(register("configured-token", { platformUrl })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringMatching(said),
  });
});

test.each([
  "http://127.0.0.1:8081",
  "http://localhost:4000/base",
  "http://[::1]:4000",
  "http://10.0.0.5",
  "http://192.168.1.20:8080",
  "http://[fd12:3456::1]",
  "https://cti.example.com/opencti",
])("a platform may be at %s", async (platformUrl) => {
  expect(await register("configured-token", { platformUrl })).toMatchObject({ server: "aev" });
});

test("of two platforms that register at once, each with a token of its own, one has the place", async () => {
  for (let round = 0; round < 10; round++) {
    await forget("aev");
    const tokens = [await tokenFor("aev"), await tokenFor("aev")];
    const both = await Promise.allSettled(
      tokens.map((token, i) =>
        register(token, { platformId: `${round}-${i}`, platformUrl: `https://p${i}.example.com` }),
      ),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const lost = both.find((one) => one.status === "rejected");
    expect(lost?.reason).toMatchObject({ code: Code.FailedPrecondition });
  }
});
