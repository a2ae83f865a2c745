import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { type User, UserService } from "#proto/auth/v1/user_service_pb.js";
import { EndpointAvailability as Availability, EndpointService } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { ConnectionState, SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { toolNames } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// What a person is told of the endpoints is what a client of theirs finds there.

describe("endpoints, as people are told of them", () => {
  let program: Program;
  let analyst: string;

  beforeAll(async () => {
    program = await startProgram();
    analyst = program.bootstrap.analyst.api_key;
  });
  afterAll(() => program?.stop());

  const to = <S extends Parameters<typeof connectClient>[0]>(service: S, apiKey: string) =>
    connectClient(service, { baseUrl: `${program.baseUrl}/rpc`, apiKey, httpVersion: "1.1" as const, retries: 0 });
  const listOf = (server: string, key: string, query = ""): Promise<string[]> =>
    toolNames(`${program.baseUrl}/mcp/${server}${query}`, key);

  test("the counts are those of the lists", async () => {
    const described = () => to(EndpointService, analyst).describeEndpoints({});
    // On a busy machine the first look at a platform may take longer than it waits for.
    const { CONNECTED, UNSPECIFIED } = ConnectionState;
    const connections = async () => (await described()).endpoints.map(({ connection }) => connection);
    await expect.poll(connections).toEqual([CONNECTED, CONNECTED, CONNECTED, UNSPECIFIED]);
    const { endpoints } = await described();
    expect(endpoints.map(({ server }) => server)).toEqual(["cti", "aev", "grc", "core"]);
    for (const { server, availability, tools, reason, toolsets, platform } of endpoints) {
      expect(availability).toBe(Availability.OPEN);
      expect(tools).toBe((await listOf(server, analyst)).length);
      expect(reason).toBe("");
      const basic = toolsets.find(({ name }) => name === "basic")?.tools;
      expect(basic).toBe((await listOf(server, analyst, "?toolsets=basic")).length);
      expect(platform !== "").toBe(server !== "core");
    }
  });

  test("who has no tools is told why, and by whom that changes", async () => {
    const keys = to(ApiKeyService, analyst);
    const { token } = await keys.createApiKey({ name: "grc alone", scopes: ["account", "grc:read"] });
    const { endpoints } = await to(EndpointService, token).describeEndpoints({});
    const [cti, , grc] = endpoints;
    expect(cti?.tools).toBe(0);
    expect(cti?.reason).toMatch(
      /needs the scope cti:read, which the API key .* does not have: its owner or an administrator/,
    );
    expect(grc?.tools).toBe((await listOf("grc", token)).length);
  });

  test("who has nothing but whoami is told which right is missing, and who gives it", async () => {
    const { admin } = program.bootstrap;
    const { user } = await to(UserService, admin.api_key).createUser({
      email: "outsider@sallyport.example",
      name: "Out",
    });
    const { token } = await to(ApiKeyService, admin.api_key).createApiKey({
      name: "of outsider",
      userId: user?.id as string,
    });
    const { endpoints } = await to(EndpointService, token).describeEndpoints({});
    const grc = endpoints.find(({ server }) => server === "grc");
    expect(await listOf("grc", token)).toEqual(["whoami"]);
    expect([grc?.tools, grc?.reason]).toEqual([
      1,
      expect.stringMatching(/needs the right .* on the grc platform.*administrator/),
    ]);
  });

  test("a switched-off endpoint says so, and has no tools", async () => {
    const settings = to(SettingService, program.bootstrap.admin.api_key);
    await settings.updateSettings({ platformServers: false });
    const { endpoints } = await to(EndpointService, analyst).describeEndpoints({});
    expect(endpoints.map(({ availability, tools }) => [availability, tools > 0])).toEqual([
      [Availability.PLATFORM_SERVERS_OFF, false],
      [Availability.PLATFORM_SERVERS_OFF, false],
      [Availability.PLATFORM_SERVERS_OFF, false],
      [Availability.OPEN, true],
    ]);
    await settings.updateSettings({ platformServers: true });
  });

  test("a switched-off endpoint names who switched it off, and never by an e-mail address", async () => {
    const { admin } = program.bootstrap;
    const settings = to(SettingService, admin.api_key);
    const users = to(UserService, admin.api_key);
    const seen = async (server: string) =>
      (await to(EndpointService, analyst).describeEndpoints({})).endpoints.find((one) => one.server === server);
    const { user } = await users.getUser({ email: admin.email });
    const begun = Date.now();
    await settings.updateSettings({ ai: false });
    const off = await seen("core");
    expect(off).toMatchObject({ availability: Availability.AI_OFF, switchedOffBy: user?.name });
    expect(Math.abs(timestampMs(off?.switchedOffAt as never) - begun)).toBeLessThan(10_000);
    expect(JSON.stringify(off, (_, value) => (typeof value === "bigint" ? `${value}` : value))).not.toContain("@");

    // Somebody else who leaves the switch as it is has not turned it.
    const { id } = (await users.createUser({ email: "second@sallyport.example", name: "Second", admin: true }))
      .user as User;
    const { token } = await to(ApiKeyService, admin.api_key).createApiKey({ name: "second", userId: id });
    const second = to(SettingService, token);
    await second.updateSettings({ ai: false });
    expect((await seen("core"))?.switchedOffBy).toBe(user?.name);
    await second.updateSettings({ ai: true });
    await second.updateSettings({ ai: false });
    expect((await seen("core"))?.switchedOffBy).toBe("Second");
    // A name that is an address is not given, and neither is that of a person who was deleted.
    await users.updateUser({ id, name: "second@sallyport.example" });
    const unnamed = await seen("core");
    expect([unnamed?.switchedOffBy, unnamed?.switchedOffAt === undefined]).toEqual(["", false]);
    await users.deleteUser({ id });
    expect((await seen("core"))?.switchedOffBy).toBe("");
    await settings.updateSettings({ ai: true });
    const on = await seen("core");
    expect([on?.switchedOffBy, on?.switchedOffAt]).toEqual(["", undefined]);
  });

  test("a measured list is the list that the URL gives", async () => {
    const endpoints = to(EndpointService, analyst);
    const whole = await endpoints.measureEndpoint({ server: "cti" });
    expect(whole).toMatchObject({ query: "", tools: (await listOf("cti", analyst)).length });
    const basic = await endpoints.measureEndpoint({
      server: "cti",
      toolsets: ["basic"],
      exclude: ["note"],
      readOnly: true,
    });
    expect(basic.query).toBe("?toolsets=basic&exclude=note&readonly=1");
    expect(basic.tools).toBe((await listOf("cti", analyst, basic.query)).length);
    expect(basic.tokens).toBeLessThan(whole.tokens / 3);
    expect(whole.namesTokens).toBeLessThan(whole.tokens / 10);
  });

  test.each([
    [{ server: "nowhere" }, Code.NotFound, "there is no server nowhere"],
    [
      { server: "cti", toolsets: ["nothing"] },
      Code.InvalidArgument,
      /"nothing" is not a toolset of cti: its toolsets are /,
    ],
    [{ server: "cti", exclude: ["nothing"] }, Code.InvalidArgument, /"nothing" is not a toolset/],
    [
      { server: "core", tenant: "b3b0f2f8-0000-4000-8000-000000000000" },
      Code.InvalidArgument,
      "core has no tenants: omit tenant",
    ],
    [{ server: "aev", tenant: "x" }, Code.InvalidArgument, "tenant must be the id of one tenant, a UUID"],
  ])("%o is refused", async (request, code, message) => {
    const refused = to(EndpointService, analyst).measureEndpoint(request);
    await expect(refused).rejects.toMatchObject({ code, rawMessage: expect.stringMatching(message) });
  });

  test("of two who turn a switch, the one who read it before the other's turn is told, and turns nothing", async () => {
    const settings = to(SettingService, program.bootstrap.admin.api_key);
    const { settings: read } = await settings.getSettings({});
    const both = await Promise.allSettled([
      settings.updateSettings({ ai: !read?.ai, expected: read }),
      settings.updateSettings({ core: !read?.core, expected: read }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const { reason } = both.find(({ status }) => status === "rejected") as PromiseRejectedResult;
    expect(reason).toMatchObject({ code: Code.Aborted });
    const { settings: now } = await settings.getSettings({});
    expect([now?.ai !== read?.ai, now?.core !== read?.core].filter(Boolean)).toHaveLength(1);
    await settings.updateSettings({ ai: read?.ai, core: read?.core });
  });
});
