import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ConsoleFiles } from "../../facade/http/routes/console.js";
import { type Started, start } from "./support/start.js";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const FILES: ConsoleFiles = {
  page: '<meta name="console" content="./" /><script src="./assets/main-1.js"></script>',
  assets: new Map([
    [
      "assets/main-1.js",
      { type: "text/javascript", plain: bytes("plain"), br: bytes("as br"), gzip: bytes("as gzip") },
    ],
    ["assets/font-1.woff2", { type: "font/woff2", plain: bytes("font") }],
  ]),
};

describe("the console's files", () => {
  let started: Started;
  beforeAll(async () => {
    started = await start({ console: FILES });
  });
  afterAll(() => started.close());

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${started.port}${path}`, { headers, redirect: "manual" });

  test.each(["/base/console/", "/base/console/profile/keys", "/base/console/nothing"])(
    "%s is the page, with addresses below the base URL's path, under a strict policy",
    async (path) => {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe(
        '<meta name="console" content="/base/console/" /><script src="/base/console/assets/main-1.js"></script>',
      );
      expect(answer.headers.get("cache-control")).toBe("no-cache");
      expect(answer.headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'; .*require-trusted-types-for 'script'$/,
      );
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    },
  );

  test("a file is kept for ever, and compressed where that is understood", async () => {
    const br = await get("/base/console/assets/main-1.js", { "accept-encoding": "gzip, br" });
    expect(br.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(br.headers.get("content-encoding")).toBe("br");
    const plain = await get("/base/console/assets/font-1.woff2");
    expect([plain.headers.get("content-encoding"), await plain.text()]).toEqual([null, "font"]);
  });

  test("a file that is gone is not the page", async () => {
    for (const path of [
      "/base/console/assets/old-1.js",
      "/base/console/assets/../index.html",
      "/base/console/assets/",
    ]) {
      const answer = await get(path);
      expect([answer.status, answer.headers.get("content-type")]).not.toEqual([200, "text/javascript"]);
    }
    expect((await get("/base/console/assets/old-1.js")).status).toBe(404);
  });

  test("the page learns the addresses of the endpoints, which a browser cannot guess", async () => {
    const answer = await get("/base/console/config.json");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await answer.json()).toMatchObject({
      base_url: "https://mcp.example.com/base",
      service_name: "Test",
      api_key_variable: "SERVICE_API_KEY",
      endpoints: { cti: "https://mcp.example.com/base/mcp/cti" },
    });
  });

  test("the base URL leads there", async () => {
    const answer = await get("/base/");
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/base/console/"]);
  });

  test("without files there is no console", async () => {
    const without = await start();
    expect((await fetch(`http://127.0.0.1:${without.port}/base/console/`)).status).toBe(404);
    await without.close();
  });
});
