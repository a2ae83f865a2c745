import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { ConnectionState, SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { as, type Neighbours, neighbours, openStore, registration, startCatalogue } from "./rig.js";

let opened: Awaited<ReturnType<typeof openStore>>;
let around: Neighbours;
let dispatch: Dispatch;

beforeEach(async () => {
  opened = await openStore();
  around = neighbours();
  dispatch = await startCatalogue(opened.store, around, {});
});
afterEach(() => opened.end());

const register = (token: string, fields = {}) => registration(dispatch)(token, fields);
const cti = { platformIdentifier: "opencti", platformUrl: "https://cti.example.com" };
const tokenFor = async (server: string) =>
  (await dispatch.unary(SettingService.method.createRegistrationToken, { name: "one", server }, as("admin"))).token;
const setting = SettingService.method;
const listed = async (who = "admin") => (await dispatch.unary(setting.listPlatforms, {}, as(who))).platforms;
const of = async (server: string, who?: string) => (await listed(who)).filter((one) => one.server === server);
const servingUrl = async () =>
  (await dispatch.unary(setting.getPlatformTarget, { server: "aev" }, as("service"))).publicUrl;
const select = (id: string, who = "admin") => dispatch.unary(setting.selectPlatform, { id }, as(who));
const forget = (id: string, who = "admin") => dispatch.unary(setting.forgetPlatform, { id }, as(who));
const one = { platformId: "one", platformUrl: "https://one.example.com" };
const two = { platformId: "two", platformUrl: "https://two.example.com" };
/** Two platforms of aev that registered, and their ids. */
async function both(): Promise<[string, string]> {
  await register(await tokenFor("aev"), one);
  await register(await tokenFor("aev"), two);
  return (await of("aev")).map(({ id }) => id) as [string, string];
}
const refused = { code: Code.PermissionDenied };
const CLOSED = /leads to a closed address .* to add \S+:80 to OUTGOING_ALLOW$/;

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
  const other = { platformId: "two", platformUrl: "https://other.example.com" };
  await expect(register(token, other)).rejects.toMatchObject(refused);
  // Nor by another platform's address without an id, nor for another server.
  await expect(register(token, { platformUrl: "https://other.example.com" })).rejects.toMatchObject(refused);
  await expect(register(token, { ...cti, platformId: "one" })).rejects.toMatchObject(refused);
  await register(token, { platformId: "one", platformUrl: "https://moved.example.com" });
  // Nor does another token register the platform.
  await expect(register(await tokenFor("aev"), { platformId: "one" })).rejects.toMatchObject(refused);
});

test("a platform that says no id is known by its address", async () => {
  await register("configured-token");
  await register("configured-token", { platformId: "one" });
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

test("what was configured before is no token any more; what it was bound to is remembered", async () => {
  await register("configured-token", { platformId: "one" });
  dispatch = await startCatalogue(opened.store, neighbours(), {}, "another-token");
  await expect(register("configured-token", { platformId: "one" })).rejects.toMatchObject({
    code: Code.Unauthenticated,
  });
  await expect(register("another-token", { platformId: "one" })).rejects.toMatchObject(refused);
  await forget((await of("aev"))[0]?.id as string);
  await register("another-token", { platformId: "one" });
  dispatch = await startCatalogue(opened.store, neighbours(), {});
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
  ["http://169.254.169.254/latest/meta-data", CLOSED],
  ["http://2852039166", CLOSED],
  ["http://0xa9fea9fe", CLOSED],
  ["http://0251.0376.0251.0376", CLOSED],
  ["http://169.254.169.254.", CLOSED],
  ["http://[::ffff:169.254.169.254]", /closed|URI/],
  ["http://[::ffff:a9fe:a9fe]", CLOSED],
  ["http://[::a9fe:a9fe]", CLOSED],
  ["http://[64:ff9b::a9fe:a9fe]", CLOSED],
  ["http://[2002:a9fe:a9fe::]", CLOSED],
  ["http://[fe80::1]", CLOSED],
  ["http://[fd00:ec2::254]", CLOSED],
  ["http://100.100.100.200", CLOSED],
  ["http://168.63.129.16", CLOSED],
  ["http://metadata.google.internal", CLOSED],
  ["http://METADATA.google.internal.", CLOSED],
  ["http://224.0.0.1", CLOSED],
  ["http://[ff02::1]", CLOSED],
  ["http://0", CLOSED],
  ["http://[::]", CLOSED],
  ["http://255.255.255.255", CLOSED],
  ["http://aev.example.com:0", /port from 1 to 65535/],
  ["http://aev.example.com:00/base", /port from 1 to 65535/],
  ["http://aev.example.com:", /port from 1 to 65535/],
  ["http://aev.example.com:65536", /URL|URI/],
  ["http://aev.example.com:-1", /URL|URI/],
  ["http://192.168.7.7", CLOSED],
  ["http://inside.example.com", CLOSED],
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

test("several of one type register: the first serves, the others wait behind it", async () => {
  await both();
  expect(await servingUrl()).toBe(one.platformUrl);
  expect(await of("aev")).toMatchObject([
    { serves: true, publicUrl: one.platformUrl, state: ConnectionState.CONNECTED },
    { serves: false, publicUrl: two.platformUrl, state: ConnectionState.CONNECTED },
  ]);
  expect(await of("aev", "analyst")).toMatchObject([{ serves: true, publicUrl: one.platformUrl }]);
  expect(await of("grc")).toMatchObject([{ id: "", serves: false, state: ConnectionState.NOT_CONNECTED }]);
});

test("the one that is selected serves, and every process is told before the call returns", async () => {
  const [first, second] = await both();
  around.published.length = 0;
  expect((await select(second)).platform).toMatchObject({ id: second, serves: true });
  expect(around.published).toEqual([{ kind: EventKind.PLATFORM, id: "aev" }]);
  expect(await servingUrl()).toBe(two.platformUrl);
  await register(await tokenFor("aev"), { platformId: "three", platformUrl: "https://three.example.com" });
  expect((await of("aev")).map(({ id }) => id)).toEqual([second, first, expect.any(String)]);
  await select(first);
  expect(await servingUrl()).toBe(one.platformUrl);
});

test("a forgotten platform frees its tokens and leaves its place to the next", async () => {
  const token = await tokenFor("aev");
  await register(token, one);
  await register("configured-token", two);
  const [first, second] = (await of("aev")).map(({ id }) => id) as [string, string];
  await expect(register(token, { ...two, platformId: "three" })).rejects.toMatchObject(refused);
  around.published.length = 0;
  expect((await forget(first)).freedTokens).toBe(1);
  expect(around.published).toEqual([{ kind: EventKind.PLATFORM, id: "aev" }]);
  expect(await servingUrl()).toBe(two.platformUrl);
  await register(token, { platformId: "three", platformUrl: "https://three.example.com" });
  // A token of the configuration is free for a platform of any type again.
  expect((await forget(second)).freedTokens).toBe(1);
  await register("configured-token", cti);
  expect((await forget(second)).freedTokens).toBe(0);
});

test("an administrator adds a platform that does not register itself", async () => {
  const added = await dispatch.unary(
    setting.addPlatform,
    { server: "aev", url: "http://10.0.0.5:8080/", publicUrl: "https://one.example.com", title: "One" },
    as("admin"),
  );
  expect(added.platform).toMatchObject({ serves: true, url: "http://10.0.0.5:8080", title: "One" });
  const target = await dispatch.unary(setting.getPlatformTarget, { server: "aev" }, as("service"));
  expect(target).toMatchObject({ url: "http://10.0.0.5:8080", publicUrl: "https://one.example.com" });
  const again = { server: "aev", url: "http://10.0.0.6", publicUrl: "https://one.example.com", title: "Uno" };
  await expect(dispatch.unary(setting.addPlatform, again, as("admin"))).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: expect.stringMatching(/with the address http:\/\/10\.0\.0\.5:8080: .*--to http:\/\/10\.0\.0\.6/),
  });
  const retitled = await dispatch.unary(setting.addPlatform, { ...again, url: "http://10.0.0.5:8080" }, as("admin"));
  expect(retitled.platform).toMatchObject({ id: added.platform?.id, title: "Uno" });
  // Who holds a token takes nothing over by claiming its address.
  await register(await tokenFor("aev"), one);
  await register(await tokenFor("aev"), { ...one, platformUrl: "https://elsewhere.example.com" }).catch(
    () => undefined,
  );
  expect(await servingUrl()).toBe("https://one.example.com");
  expect((await of("aev"))[0]).toMatchObject({ id: added.platform?.id, url: "http://10.0.0.5:8080" });
  const refusedUrl = dispatch.unary(setting.addPlatform, { server: "aev", url: "http://169.254.169.254" }, as("admin"));
  await expect(refusedUrl).rejects.toMatchObject({ code: Code.InvalidArgument });
});

test.each(["analyst", "reader"])("%s adds, selects and forgets nothing", async (who) => {
  const [first] = await both();
  const add = () => dispatch.unary(setting.addPlatform, { server: "aev", url: "https://x.example.com" }, as(who));
  for (const one of [() => select(first, who), () => forget(first, who), add]) {
    await expect(one()).rejects.toMatchObject({ code: Code.PermissionDenied });
  }
});

test("what the settings name serves, and is neither selected away nor forgotten", async () => {
  const [first] = await both();
  const set = { url: "http://set", publicUrl: "https://set.example.com", title: "Set" };
  dispatch = await startCatalogue(opened.store, around, { aev: set });
  expect(await servingUrl()).toBe(set.publicUrl);
  expect((await of("aev")).map(({ id, serves }) => [id, serves])).toEqual([
    ["aev-configured", true],
    [first, false],
    [expect.any(String), false],
  ]);
  for (const one of [() => select(first), () => forget("aev-configured")]) {
    await expect(one()).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("AEV_URL"),
    });
  }
});

test("a built-in platform serves until another one is selected, and again", async () => {
  const [first] = await both();
  const set = { url: "http://sandbox", publicUrl: "http://sandbox", title: "Sandbox", isBuiltIn: true };
  dispatch = await startCatalogue(opened.store, around, { aev: set });
  expect(await servingUrl()).toBe(set.publicUrl);
  await select(first);
  expect(await servingUrl()).toBe(one.platformUrl);
  await select("aev-built-in");
  expect(await servingUrl()).toBe(set.publicUrl);
  await expect(select("aev-nobody")).rejects.toMatchObject({ code: Code.NotFound });
});

test("a platform that registers twice at once is one platform", async () => {
  const token = await tokenFor("aev");
  await Promise.all(Array.from({ length: 8 }, () => register(token, one)));
  expect(await of("aev")).toHaveLength(1);
});
