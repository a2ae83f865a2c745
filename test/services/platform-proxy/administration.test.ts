import { readdirSync, readFileSync } from "node:fs";
import { getOption, hasOption } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { server, tool } from "#proto/mcp/v1/tool_pb.js";
import { loadPlatform } from "../../../services/platform-proxy/parts.js";
import { isDenied as isDeniedOnAev } from "../../../services/platform-proxy/platforms/aev/denied.js";
import { isDenied as isDeniedOnCti } from "../../../services/platform-proxy/platforms/cti/denied.js";
import { isDenied as isDeniedOnGrc } from "../../../services/platform-proxy/platforms/grc/denied.js";
import { PLATFORM_SERVERS } from "../../../services/shared/platforms.js";
import { keyOf } from "../../../services/shared/rpc/in-process.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { documents } from "./platforms/cti/binding-documents.js";

// No tool administers a platform: a walk over the image and over the bindings.
// What a platform's denied.ts names is refused where every exchange passes
// (denied.test.ts); here nothing that is there asks for it, and nothing goes past.

const PLATFORMS = new URL("../../../services/platform-proxy/platforms/", import.meta.url);
const ID = "7afcd113-a838-4ade-a5c5-9882ee2deba6";

const sourcesOf = (name: string) =>
  readdirSync(new URL(`${name}/`, PLATFORMS), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => ({ file: `${name}/${file}`, text: readFileSync(new URL(`${name}/${file}`, PLATFORMS), "utf8") }));

/** Those by which a platform is spoken to at all: they ask who is calling and end sessions, and answer no tool. */
const SPEAKING = /\/(adapter|sessions)\.ts$/;

/** What puts a route inside a tenant; the routes are elsewhere. */
const PREFIX = "aev/tenant.ts";

/** The routes that a source names, as requests. */
function routesOf(text: string): string[] {
  const literals = [...text.matchAll(/["`](\/[a-z][^"`\s]*)["`]/g)].map(([, literal = ""]) => literal);
  return literals
    .map((literal) => literal.replace(/\$\{[^}]*\}/g, ID))
    .map((path) => (path.startsWith("/api/") ? path : `/api/tenants/${ID}${path}`));
}

test("the rpcs behind a platform's tools are those that are published, and each is bound", async () => {
  const published = new Map<string, string[]>();
  for (const desc of readImage()) {
    if (desc.kind !== "service") continue;
    const on = getOption(desc, server);
    for (const method of desc.methods.filter((one) => hasOption(one, tool))) {
      published.set(on, [...(published.get(on) ?? []), keyOf(method)]);
    }
  }
  for (const name of PLATFORM_SERVERS) {
    const { bindings } = await loadPlatform(name);
    expect(bindings.map(({ method }) => keyOf(method)).sort()).toEqual(published.get(name)?.sort());
  }
});

test("no document of a cti binding administers", () => {
  expect(documents.length).toBeGreaterThan(30);
  expect(documents.filter(([, document]) => isDeniedOnCti(document)).map(([name]) => name)).toEqual([]);
});

test.each([
  ["aev", isDeniedOnAev, 8],
  ["grc", isDeniedOnGrc, 12],
] as const)("no route that a %s binding names administers", (name, isDenied, atLeast) => {
  const sources = sourcesOf(name).filter(({ file }) => !SPEAKING.test(file) && file !== PREFIX);
  const routes = sources.flatMap(({ text }) => routesOf(text));
  expect(new Set(routes).size).toBeGreaterThanOrEqual(atLeast);
  expect(routes.filter((path) => isDenied({ verb: "GET", path }))).toEqual([]);
});

test("a route of administration would be found", () => {
  const found = routesOf(`platform.rest({ verb: "GET", path: "/api/users/" }); path(\`/users/\${id}\`)`);
  expect(found).toEqual(["/api/users/", `/api/tenants/${ID}/users/${ID}`]);
  expect(found.every((path) => isDeniedOnAev({ verb: "GET", path }))).toBe(true);
});

test("no binding speaks to a platform past the gate", () => {
  for (const name of PLATFORM_SERVERS) {
    for (const { file, text } of sourcesOf(name).filter((source) => !SPEAKING.test(source.file))) {
      expect({ file, past: /\bhttp\.send\b|\bfetch\(|from "undici"|createHttpClient/.test(text) }).toEqual({
        file,
        past: false,
      });
    }
  }
});
