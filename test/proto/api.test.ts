import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { API_IMAGE, readImage } from "../../services/shared/tools/image.js";
import { problemsOf } from "./problems.js";

test("nothing in the API would trip a client or leave an rpc open", () => {
  expect(problemsOf(readImage(API_IMAGE))).toEqual([]);
});

describe("what is wrong is found", () => {
  const folder = mkdtempSync(join(tmpdir(), "api-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  cpSync("proto", folder, { recursive: true, filter: (path) => !path.includes("gen") });

  const TOOL = 'option (auth.v1.scope) = "cti:read"; option (mcp.v1.tool) = {};';

  test.each([
    ["no scope", "// Reads.\n rpc Read(ReadRequest) returns (ReadResponse) {}", "states no (auth.v1.scope)"],
    ["no comment", `rpc Read(ReadRequest) returns (ReadResponse) { ${TOOL} }`, "has no comment"],
    [
      "a name above 40 characters",
      `// Reads.\n rpc ReadEverythingThereIsAboutEverySightingOfAnything(ReadRequest) returns (ReadResponse) { ${TOOL} }`,
      "has a name that clients refuse",
    ],
    [
      "a name twice",
      `// Reads.\n rpc Read(ReadRequest) returns (ReadResponse) { ${TOOL} }
       // Reads.\n rpc ReadAgain(ReadRequest) returns (ReadResponse) { option (auth.v1.scope) = "cti:read"; option (mcp.v1.tool) = {name: "read"}; }`,
      "cti/read is there twice",
    ],
    [
      "a schema of its own",
      `// Reads.\n rpc Read(ReadRequest) returns (ReadResponse) { option (auth.v1.scope) = "cti:read";
        option (mcp.v1.tool) = {input_schema: "{\\"type\\":\\"object\\",\\"properties\\":{\\"x\\":{\\"anyOf\\":[]}}}"}; }`,
      "overrides its input schema",
    ],
    [
      "anyOf in a schema",
      `// Reads.\n rpc Read(ReadRequest) returns (ReadResponse) { option (auth.v1.scope) = "cti:read";
        option (mcp.v1.tool) = {input_schema: "{\\"type\\":\\"object\\",\\"properties\\":{\\"x\\":{\\"anyOf\\":[]}}}"}; }`,
      "has anyOf in its schema at /properties/x/",
    ],
    [
      "the scope of another server",
      `// Reads.\n rpc Read(ReadRequest) returns (ReadResponse) { option (auth.v1.scope) = "aev:read"; option (mcp.v1.tool) = {}; }`,
      "of another server",
    ],
  ])("%s", (_what, rpcs, problem) => {
    writeFileSync(
      join(folder, "wrong.proto"),
      `syntax = "proto3";
       package cti.wrong.v1;
       import "auth/v1/access.proto";
       import "mcp/v1/tool.proto";
       // Wrong.
       service WrongService {
         option (mcp.v1.server) = "cti";
         ${rpcs}
       }
       message ReadRequest {}
       message ReadResponse {}`,
    );
    const image = join(folder, "wrong.binpb");
    execFileSync("npx", ["buf", "build", folder, "-o", image], { stdio: "pipe" });
    expect(problemsOf(readImage(image)).join("\n")).toContain(problem);
  });
});
