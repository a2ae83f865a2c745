import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { legacy, modern, post } from "./support/client.js";
import { onEachEdge } from "./support/edges.js";
import { headerLines, raw, requestText } from "./support/raw.js";
import { excludeSpellings, readOnlySpellings, tenantSpellings } from "./support/spellings.js";
import type { Started } from "./support/start.js";

const WRITES = { name: "drop_sighting", arguments: {} };
const ERAS = { modern, legacy };
const TENANT = "0b6f6c9e-8a51-4f0e-9c0d-1f1d9a3c2e77";
const OTHER = "7f1d4a02-33c5-4a6b-8f5e-0c9b2d1e4a55";

onEachEdge((edge) => {
  let server: Started;
  beforeAll(async () => {
    server = await edge.start({ publicUrls: { cti: new URL("https://cti.example.com/mcp") } });
  });
  afterAll(() => server.close());
  const ask = (query: string, { body, headers }: { body: object; headers: Record<string, string> }) =>
    post(`${server.url}/mcp/cti?${query}`, body, headers);

  test("of every spelling of readonly the list is that of readonly=1, or it is refused", async () => {
    const narrowed = await ask("readonly=1", legacy("tools/list"));
    expect(narrowed.json.result.tools).toHaveLength(4);
    const answers = [];
    for (const query of readOnlySpellings()) answers.push({ query, ...(await ask(query, legacy("tools/list"))) });
    for (const { query, status, text, json } of answers) {
      if (status === 200) expect([query, text]).toEqual([query, narrowed.text]);
      else
        expect([query, status, json?.id, json?.error?.data?.error]).toEqual([
          query,
          400,
          1,
          expect.stringMatching(/^(unknown|invalid)_parameter$/),
        ]);
    }
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(3);
  });

  test("no spelling lets a call through that writes", async () => {
    for (const query of readOnlySpellings().filter((_, at) => at % 5 === 0)) {
      const { status, json } = await ask(query, legacy("tools/call", WRITES));
      expect([query, status === 400 || json.result?.isError === true]).toEqual([query, true]);
    }
  });

  test("of every spelling of exclude the list and the calls are those of exclude=, or it is refused", async () => {
    const narrowed = await ask("exclude=drop_sighting", legacy("tools/list"));
    expect(narrowed.json.result.tools).toHaveLength(6);
    // A description names no tool that is left out.
    expect(narrowed.text).not.toContain("drop_sighting");
    for (const query of excludeSpellings("drop_sighting", "nope")) {
      const list = await ask(query, legacy("tools/list"));
      if (list.status === 200) expect([query, list.text]).toEqual([query, narrowed.text]);
      else expect([query, list.status, list.json?.id]).toEqual([query, 400, 1]);
      const { status, json } = await ask(query, legacy("tools/call", WRITES));
      expect([query, status === 400 || json.result?.isError === true]).toEqual([query, true]);
    }
  });

  test("of every spelling of tenant calls are for that tenant alone, or it is refused", async () => {
    const route = (args: object) => legacy("tools/call", { name: "route_sighting", arguments: args });
    const accepted = [];
    for (const query of tenantSpellings(TENANT, OTHER)) {
      const { status, json } = await ask(query, route({}));
      if (status === 400) continue;
      accepted.push(query);
      expect([query, json.result.structuredContent]).toEqual([query, { tenant: TENANT }]);
      expect((await ask(query, route({ tenant_id: OTHER }))).json.result.isError).toBe(true);
    }
    expect(accepted.length).toBeGreaterThan(3);
  });

  describe.each(["modern", "legacy"] as const)("%s", (era) => {
    const called = async (query: string, args: object) =>
      (await ask(query, ERAS[era]("tools/call", { name: "route_sighting", arguments: args }))).json.result;

    test("a pinned tenant leaves the schemas, is filled in, taken if equal, and refused otherwise", async () => {
      const query = `tenant=${TENANT}`;
      const { text, json } = await ask(`${query}&output_schemas=1`, ERAS[era]("tools/list"));
      expect(json.result.tools).toHaveLength(7);
      expect(text).not.toContain("tenant_id");
      for (const args of [{}, { tenant_id: TENANT }, { tenantId: TENANT.toUpperCase() }, { tenant_id: null }])
        expect((await called(query, args)).structuredContent.tenant).toBe(TENANT);
      for (const args of [{ tenant_id: OTHER }, { tenantId: OTHER }, { tenant_id: "x" }]) {
        const { isError, content } = await called(query, args);
        expect([isError, content[0].text]).toEqual([
          true,
          expect.stringMatching(`^tenant_id: .* is for the tenant ${TENANT}`),
        ]);
      }
      expect((await called("", { tenant_id: OTHER })).structuredContent.tenant).toBe(OTHER);
    });

    test("toolsets go together, and what is excluded is left out of them", async () => {
      const names = async (query: string) =>
        (await ask(query, ERAS[era]("tools/list"))).json.result.tools.map(({ name }: { name: string }) => name);
      expect(await names("toolsets=basic")).toEqual(["echo_sighting", "drop_sighting"]);
      expect(await names("toolsets=basic,writing")).toEqual([
        "echo_sighting",
        "drop_sighting",
        "fail_sighting",
        "wait_for_sighting",
      ]);
      expect(await names("toolsets=basic,writing&exclude=basic")).toEqual(["fail_sighting", "wait_for_sighting"]);
      expect(await names("toolsets=writing&exclude=fail_sighting&readonly=1")).toEqual([]);
    });

    test("a list that lacks what returns an id says which toolset has it", async () => {
      const { tools } = (await ask("toolsets=writing", ERAS[era]("tools/list"))).json.result;
      expect(tools[0].inputSchema.properties.id.description).toBe(
        "The sighting's id. Tools that this URL leaves out return such ids: toolset sighting.",
      );
      const whole = (await ask("", ERAS[era]("tools/list"))).json.result.tools;
      expect(whole[4].inputSchema.properties.id.description).toBe("The sighting's id, from page_sightings.");
      expect(whole[0]._meta).toEqual({ "anthropic/alwaysLoad": true });
      expect(whole.filter((tool: object) => "_meta" in tool)).toHaveLength(1);
    });

    const methods: Readonly<Record<string, object>> = {
      "tools/list": {},
      "tools/call": WRITES,
      ...(era === "modern" ? { "server/discover": {} } : { initialize: { protocolVersion: "2025-11-25" }, ping: {} }),
      "no/such/method": {},
    };
    test.each(Object.keys(methods))("%s is refused with its id and what to do", async (method) => {
      const message = ERAS[era](method, methods[method] as Record<string, unknown>, "mine");
      const { status, json } = await ask("toolsets=nope", message);
      expect(status).toBe(400);
      expect(json).toMatchObject({
        jsonrpc: "2.0",
        id: "mine",
        error: { code: 400, data: { error: "invalid_parameter" } },
      });
      expect(json.error.message).toMatch(
        /nope is not a toolset of this server. Toolsets of this server are sighting, writing, .*basic\..*correct the URL/,
      );
    });
  });

  test("a batch and a notification are refused as well", async () => {
    const { body } = legacy("tools/list");
    const headers = { "mcp-protocol-version": "2025-03-26" };
    expect((await post(`${server.url}/mcp/cti?x=1`, [body], headers)).status).toBe(400);
    const notice = { jsonrpc: "2.0", method: "notifications/initialized" };
    expect((await post(`${server.url}/mcp/cti?x=1`, notice, headers)).status).toBe(400);
  });

  test("an endpoint with a public URL of its own reads its query alike", async () => {
    const { body, headers } = legacy("tools/list");
    const lines = headerLines(headers).map((line) => line.replace("host: 127.0.0.1", "host: cti.example.com"));
    const text = JSON.stringify(body);
    const at = (query: string): Promise<string> =>
      raw(
        server.port,
        requestText(`/mcp${query}`, [...lines, `content-length: ${text.length}`, "connection: close"], text),
      ).ended;
    expect(await at("?readonly=1")).toMatch(/^HTTP\/1.1 200 .*echo_sighting/s);
    expect(await at("?readOnly=1")).toMatch(/^HTTP\/1.1 400 .*unknown_parameter/s);
  });

  test("what is refused earlier still is: method, credential", async () => {
    const url = `${server.url}/mcp/cti?nope=1`;
    for (const method of ["GET", "DELETE"]) expect((await fetch(url, { method })).status).toBe(405);
    const { body, headers } = legacy("tools/list");
    expect((await post(url, body, { ...headers, authorization: undefined })).status).toBe(401);
    expect((await post(`${server.url}/mcp/nope?nope=1`, body, headers)).status).toBe(404);
  });

  test("an empty query is none", async () => {
    const { body, headers } = legacy("tools/list");
    const plain = await post(`${server.url}/mcp/cti`, body, headers);
    expect((await post(`${server.url}/mcp/cti?`, body, headers)).text).toBe(plain.text);
  });
});
