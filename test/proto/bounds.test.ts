import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readImage } from "../../services/shared/tools/image.js";
import { boundProblemsOf } from "./bounds.js";

// The check of api.test.ts, on requests without bounds.

describe("what has no bound is found", () => {
  const FIELDS: readonly (readonly [what: string, fields: string, problem: string])[] = [
    ["a text", "string one = 1;", "one has no max_len"],
    ["a text that is required", "string one = 1 [(buf.validate.field).required = true];", "one has no max_len"],
    ["a format of any length", "string one = 1 [(buf.validate.field).string.uri = true];", "one has no max_len"],
    ["bytes", "bytes one = 1 [(buf.validate.field).bytes.min_len = 1];", "one has no max_len"],
    ["a member of a oneof", "oneof some { string one = 1; int32 two = 2; }", "one has no max_len"],
    [
      "a list",
      "repeated string some = 1 [(buf.validate.field).repeated = {items: {string: {max_len: 9}}}];",
      "some holds any number of items",
    ],
    ["a list of numbers", "repeated int32 some = 1;", "some holds any number of items"],
    [
      "items",
      "repeated string some = 1 [(buf.validate.field).repeated.max_items = 9];",
      "some has items without max_len",
    ],
    ["keys", "map<string, bool> some = 1 [(buf.validate.field).map.max_pairs = 9];", "some has keys without max_len"],
    [
      "values",
      "map<int32, string> some = 1 [(buf.validate.field).map.max_pairs = 9];",
      "some has items without max_len",
    ],
    ["a message within", "Inner inner = 1;", "Inner.text has no max_len"],
    ["a message that contains itself", "Loop loop = 1;", "Loop contains itself"],
    ["somebody else's", "google.protobuf.ListValue any = 1;", "google.protobuf.ListValue is bounded nowhere"],
  ];
  const BOUNDED = `
    string one = 1 [(buf.validate.field).string.max_len = 9];
    string id = 2 [(buf.validate.field).string.uuid = true];
    bytes raw = 3 [(buf.validate.field).bytes.max_len = 9];
    repeated string some = 4 [(buf.validate.field).repeated = {max_items: 9, items: {string: {max_bytes: 9}}}];
    map<string, int32> counts = 5 [(buf.validate.field).map = {max_pairs: 9, keys: {string: {in: ["a", "b"]}}}];
    google.protobuf.Timestamp at = 6;`;

  const folder = mkdtempSync(join(tmpdir(), "bounds-"));
  let found: readonly string[] = [];
  beforeAll(() => {
    cpSync("proto", folder, { recursive: true, filter: (path) => !path.includes("gen") });
    for (const [i, fields] of [...FIELDS.map(([, fields]) => fields), BOUNDED].entries()) {
      writeFileSync(
        join(folder, `open${i}.proto`),
        `syntax = "proto3";
         package open${i}.v1;
         import "buf/validate/validate.proto";
         import "google/protobuf/struct.proto";
         import "google/protobuf/timestamp.proto";
         service OpenService { rpc Open(OpenRequest) returns (OpenResponse); }
         message OpenRequest { ${fields} }
         message OpenResponse { string answers_may_be_long = 1; }
         message Inner { string text = 1; }
         message Loop { Loop loop = 1; }`,
      );
    }
    const image = join(folder, "open.binpb");
    execFileSync("node_modules/.bin/buf", ["build", folder, "-o", image], { stdio: "pipe" });
    found = boundProblemsOf(readImage(image));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(FIELDS.map(([what, , problem], i) => [what, i, problem] as const))("%s", (_what, i, problem) => {
    expect(found.filter((one) => one.startsWith(`open${i}.`) || one.startsWith("google.")).join("\n")).toContain(
      problem,
    );
  });

  test("and what has bounds is not", () => {
    expect(found.filter((one) => one.startsWith(`open${FIELDS.length}.`))).toEqual([]);
  });
});
