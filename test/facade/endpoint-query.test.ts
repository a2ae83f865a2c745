import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { legacy, modern, post } from "./support/client.js";
import { onEachEdge } from "./support/edges.js";
import { headerLines, raw, requestText } from "./support/raw.js";
import { readOnlySpellings } from "./support/spellings.js";
import type { Started } from "./support/start.js";

const WRITES = { name: "drop_sighting", arguments: {} };
const ERAS = { modern, legacy };

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

  describe.each(["modern", "legacy"] as const)("%s", (era) => {
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
        /nope is no toolset here. Toolsets of this server are sighting, writing.*correct the URL/,
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
