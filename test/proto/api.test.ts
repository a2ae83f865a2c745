import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { boundsOf, FOREIGN_BOUNDS, MAX_EXPORT_BYTES, MAX_MESSAGE_BYTES } from "../../services/shared/rpc/bounds.js";
import { readImage } from "../../services/shared/tools/image.js";
import { boundProblemsOf } from "./bounds.js";
import { problemsOf } from "./problems.js";
import { VERBS } from "./verbs.js";

const api = readImage();

test("everything that a request can hold is bounded", () => {
  expect(boundProblemsOf(api)).toEqual([]);
});

test("the bounds of other people's messages are of messages that we serve", () => {
  const served = new Set(
    [...api].flatMap((desc) => (desc.kind === "service" ? desc.methods : [])).map((m) => m.input.typeName),
  );
  expect(Object.keys(FOREIGN_BOUNDS).filter((name) => !served.has(name))).toEqual([]);
});

test("a request of few small fields may be short only", () => {
  const revoke = api.getService("auth.v1.ApiKeyService")?.methods.find(({ name }) => name === "RevokeApiKey");
  expect(boundsOf(revoke!.input).bytes).toBeLessThan(70_000);
  const bytes = [...api].flatMap((desc) =>
    desc.kind === "service" ? desc.methods.map((m) => boundsOf(m.input).bytes) : [],
  );
  expect(bytes.filter((most) => most > MAX_MESSAGE_BYTES)).toEqual([MAX_EXPORT_BYTES]);
  expect(bytes).toContain(MAX_MESSAGE_BYTES);
});

test("nothing in the API would trip a client or leave an rpc open", () => {
  expect(problemsOf(api)).toEqual([]);
});

test("the verbs of tools are those of docs/api-style.md", () => {
  const [, section = ""] = readFileSync("docs/api-style.md", "utf8").split("\n## Verbs\n");
  const [table = ""] = section.split("\n## ");
  const written = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([a-z]+)_?`/g)].map(([, verb]) => verb),
  );
  expect(written.toSorted()).toEqual(Object.keys(VERBS).toSorted());
});
