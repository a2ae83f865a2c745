import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cursor, vscode } from "../../../../clients/packages/clients/editors.js";
import { type Entry, MCP_CLIENTS } from "../../../../clients/packages/mcp-clients.js";

// Each link is decoded as the documentation of its editor says, not with our code.

/** VS Code: `JSON.parse(decodeURIComponent(query))`; name and inputs are taken out, the rest is the configuration. */
function readByVscode(href: string, decodings = 1): { name: string; inputs: unknown; config: object } {
  const [scheme, query = ""] = href.split("?");
  expect(scheme).toMatch(/^vscode(?:-insiders)?:mcp\/install$/);
  let text = query;
  for (let n = 0; n < decodings; n++) text = decodeURIComponent(text);
  const { name, inputs, ...config } = JSON.parse(text);
  return { name, inputs, config };
}

/** Cursor: `config` is the base64 of the object below the server's name. */
function readByCursor(href: string): { name: string | null; config: object } {
  const url = new URL(href);
  expect([url.protocol, url.hostname, url.pathname]).toEqual(["cursor:", "anysphere.cursor-deeplink", "/mcp/install"]);
  const config = url.searchParams.get("config") ?? "";
  expect(config).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
  return { name: url.searchParams.get("name"), config: JSON.parse(Buffer.from(config, "base64").toString("utf8")) };
}

const ENTRY: Entry = { name: "sallyport-cti", url: "https://service.example/mcp/cti?toolsets=basic,case&readonly=1" };

describe("VS Code", () => {
  test("asks for the key, in both editions", () => {
    const links = vscode.links?.(ENTRY, "OUR_KEY") ?? [];
    expect(links.map(({ title, href }) => [title, href.split(":")[0]])).toEqual([
      ["Add to VS Code", "vscode"],
      ["Add to VS Code Insiders", "vscode-insiders"],
    ]);
    for (const { href } of links)
      expect(readByVscode(href)).toEqual({
        name: "sallyport-cti",
        inputs: [{ type: "promptString", id: "our-key", description: "Service API key", password: true }],
        config: {
          type: "http",
          url: ENTRY.url,
          // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code's spelling.
          headers: { Authorization: "Bearer ${input:our-key}" },
        },
      });
  });

  test("reads any URL, also if the link is decoded twice on the way", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (more) => {
        const url = `https://service.example/a%20b/mcp/cti?x=${encodeURIComponent(`%${more}`)}`;
        const href = vscode.links?.({ name: "a", url }, "K")[0]?.href ?? "";
        for (const decodings of [1, 2]) expect(readByVscode(href, decodings).config).toMatchObject({ url });
      }),
    );
  });
});

describe("Cursor", () => {
  test("names the variable", () => {
    const [link] = cursor.links?.(ENTRY, "OUR_KEY") ?? [];
    expect(link?.title).toBe("Add to Cursor");
    expect(readByCursor(link?.href ?? "")).toEqual({
      name: "sallyport-cti",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Cursor's spelling.
      config: { url: ENTRY.url, headers: { Authorization: "Bearer ${env:OUR_KEY}" } },
    });
  });

  test("reads any name and URL", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (name, url) => {
        const [link] = cursor.links?.({ name, url }, "K") ?? [];
        expect(readByCursor(link?.href ?? "")).toMatchObject({ name, config: { url } });
      }),
    );
  });
});

test("VS Code and Cursor have links, and no other client", () => {
  expect(MCP_CLIENTS.filter(({ links }) => links !== undefined).map(({ name }) => name)).toEqual(["vscode", "cursor"]);
});
