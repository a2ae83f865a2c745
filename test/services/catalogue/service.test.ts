import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { EndpointAvailability, EndpointService } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { ConnectionState, SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { unavailable } from "../../../services/shared/rpc/errors.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { as, type Neighbours, neighbours, openStore, registration, startCatalogue } from "./rig.js";

const AT_CTI = { cti: { url: "http://cti", publicUrl: "https://cti.example.com", title: "CTI" } };

let opened: Awaited<ReturnType<typeof openStore>>;
let around: Neighbours;
let dispatch: Dispatch;

beforeEach(async () => {
  opened = await openStore();
  around = neighbours();
  dispatch = await startCatalogue(opened.store, around, AT_CTI);
});
afterEach(() => opened.end());

const stateOf = async (server: string) => {
  const { endpoints } = await dispatch.unary(EndpointService.method.getEndpointStates, {}, as("service"));
  return endpoints.find((endpoint) => endpoint.server === server)?.availability;
};
const listed = (server: string, who: string) =>
  dispatch.unary(EndpointService.method.listVisibleTools, { server }, as(who));
const register = (token: string, fields = {}) => registration(dispatch)(token, fields);

test("the switches begin as specified: platform servers on, core off, AI on", async () => {
  const { settings } = await dispatch.unary(SettingService.method.getSettings, {}, as("admin"));
  expect(settings).toMatchObject({ platformServers: true, core: false, ai: true });
  expect(await stateOf("cti")).toBe(EndpointAvailability.OPEN);
  expect(await stateOf("aev")).toBe(EndpointAvailability.NOT_REGISTERED);
  expect(await stateOf("core")).toBe(EndpointAvailability.CORE_OFF);
});

test("a switch acts on the endpoints, is published before it returns, and leaves the others", async () => {
  const set = (changes: object) => dispatch.unary(SettingService.method.updateSettings, changes, as("admin"));
  expect((await set({ core: true, ai: false })).settings).toMatchObject({
    platformServers: true,
    core: true,
    ai: false,
  });
  expect(around.published).toEqual([{ kind: EventKind.SETTING, id: "switches" }]);
  expect(await stateOf("core")).toBe(EndpointAvailability.AI_OFF);
  await set({ ai: true });
  expect(await stateOf("core")).toBe(EndpointAvailability.OPEN);
  await set({ platformServers: false });
  expect(await stateOf("cti")).toBe(EndpointAvailability.PLATFORM_SERVERS_OFF);
  expect(await stateOf("core")).toBe(EndpointAvailability.OPEN);
});

test("only an administrator turns switches", async () => {
  const set = dispatch.unary(SettingService.method.updateSettings, { core: true }, as("analyst"));
  await expect(set).rejects.toMatchObject({ code: Code.PermissionDenied });
});

test("a platform registers with a token, which is digest and dust afterwards", async () => {
  await expect(register("wrong")).rejects.toMatchObject({ code: Code.Unauthenticated });
  expect(await register("configured-token")).toMatchObject({ server: "aev" });
  expect(around.published).toEqual([{ kind: EventKind.PLATFORM, id: "aev" }]);
  await register("configured-token", { platformVersion: "2.4.1" });
  expect(around.published).toHaveLength(1);
  const target = await dispatch.unary(SettingService.method.getPlatformTarget, { server: "aev" }, as("service"));
  expect(target).toMatchObject({
    registered: true,
    url: "https://aev.example.com",
    publicUrl: "https://aev.example.com",
  });
  await expect(register("configured-token", { platformIdentifier: "other" })).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

test("a platform does not take the place of another one, but may move", async () => {
  await register("configured-token", { platformId: "one" });
  const stranger = { platformId: "two", platformUrl: "https://stranger.example.com" };
  await expect(register("configured-token", stranger)).rejects.toMatchObject({ code: Code.PermissionDenied });
  await register("configured-token", { platformId: "one", platformUrl: "https://moved.example.com" });
  const target = await dispatch.unary(SettingService.method.getPlatformTarget, { server: "aev" }, as("service"));
  expect(target.url).toBe("https://moved.example.com");
});

test("a client id that an administrator set is for that administrator's platform only", async () => {
  await register("configured-token", {
    platformIdentifier: "ciso-assistant",
    platformUrl: "https://registrant.example.com",
  });
  const grc = () => dispatch.unary(SettingService.method.getPlatformTarget, { server: "grc" }, as("service"));
  expect((await grc()).clientId).toBe("https://registrant.example.com");
  dispatch = await startCatalogue(opened.store, around, {
    grc: { url: "http://grc", publicUrl: "https://grc.example.com", title: "GRC" },
  });
  expect((await grc()).clientId).toBe("configured-client");
});

test("an administrator's registration token works until it is taken back", async () => {
  const made = await dispatch.unary(
    SettingService.method.createRegistrationToken,
    { name: "aev", server: "aev" },
    as("admin"),
  );
  expect(await register(made.token)).toMatchObject({ server: "aev" });
  await dispatch.unary(SettingService.method.revokeRegistrationToken, { id: made.id }, as("admin"));
  await expect(register(made.token)).rejects.toMatchObject({ code: Code.Unauthenticated });
});

test("a platform is connected, registered or neither", async () => {
  await register("configured-token");
  const states = async () => {
    const { platforms } = await dispatch.unary(SettingService.method.listPlatforms, {}, as("analyst"));
    return platforms.map((platform) => ConnectionState[platform.state]);
  };
  expect(await states()).toEqual(["CONNECTED", "CONNECTED", "NOT_CONNECTED"]);
  around.reachable = false;
  expect(await states()).toEqual(["REGISTERED", "CONNECTED", "NOT_CONNECTED"]);
});

test("configuration wins over a platform's own registration", async () => {
  await register("configured-token", { platformIdentifier: "opencti", platformUrl: "https://other" });
  const target = await dispatch.unary(SettingService.method.getPlatformTarget, { server: "cti" }, as("service"));
  expect(target).toMatchObject({ url: "http://cti", publicUrl: "https://cti.example.com", auth: "bearer" });
});

test("a list holds what the caller can do on the platform and has the scope for", async () => {
  const all = (await listed("cti", "admin")).tools;
  around.capabilities = () => ["KNOWLEDGE"];
  const read = (await listed("cti", "analyst")).tools;
  expect(read.length).toBeGreaterThan(0);
  expect(read.length).toBeLessThan(all.length);
  expect(all.filter((name) => read.includes(name))).toEqual(read);
  around.capabilities = () => ["*"];
  const narrowed = (await listed("cti", "reader")).tools;
  expect(narrowed).not.toContain("delete_entity");
  expect((await listed("grc", "reader")).tools).toEqual([]);
});

test("a platform that cannot be asked leaves the read tools, and lets calls say why", async () => {
  around.capabilities = () => {
    throw unavailable("the cti platform cannot be reached");
  };
  const reply = await listed("cti", "analyst");
  const readOnly = new Set(
    readTools(readImage())
      .filter((tool) => tool.readOnly)
      .map((tool) => tool.name),
  );
  expect(reply.tools.every((name) => readOnly.has(name))).toBe(true);
  expect(reply.unlisted.length).toBeGreaterThan(0);
  expect(reply.unlisted.some((name) => readOnly.has(name))).toBe(false);
});

test("a platform that hangs empties no list: the read tools are listed in time", async () => {
  dispatch = await startCatalogue(opened.store, around, AT_CTI, undefined, 30);
  let ended = 0;
  around.hang = (signal) => signal.addEventListener("abort", () => ended++, { once: true });
  const deadline = { ...as("analyst"), deadline: Date.now() + 5_000 };
  const reply = await dispatch.unary(EndpointService.method.listVisibleTools, { server: "cti" }, deadline);
  expect(reply.tools).toContain("search_all");
  expect(reply.unlisted).toContain("delete_entity");
  expect(reply.keepMs).toBeLessThan(5_000);
  const { reason } = await dispatch.unary(
    EndpointService.method.explainTool,
    { server: "cti", tool: "delete_entity" },
    deadline,
  );
  expect([reason, ended]).toEqual(["", 2]);
});

test("an unknown server has no list", async () => {
  await expect(listed("nope", "admin")).rejects.toMatchObject({ code: Code.NotFound });
});
