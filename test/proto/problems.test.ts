import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileRegistry } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readImage } from "../../services/shared/tools/image.js";
import { problemsOf } from "./problems.js";

// The checks of api.test.ts, on APIs that are wrong.

/** The image of the .proto files in a folder. */
function imageOf(folder: string): FileRegistry {
  const image = join(folder, "image.binpb");
  execFileSync("node_modules/.bin/buf", ["build", folder, "-o", image], { stdio: "pipe" });
  return readImage(image);
}

describe("what is wrong is found", () => {
  const TOOL = 'option (auth.v1.scope) = "cti:read"; option (mcp.v1.tool) = {};';

  const CASES: readonly (readonly [what: string, rpcs: string, problem: string])[] = [
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
      "read is there twice",
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
      "a read with side effects",
      `// Reads.\n rpc GetMore(ReadRequest) returns (ReadResponse) { ${TOOL} }`,
      "is named like a read and has side effects",
    ],
    [
      "a list that only replaces",
      `// Sets.\n rpc SetLabels(SetLabelsRequest) returns (ReadResponse) { option (auth.v1.scope) = "cti:write"; option (mcp.v1.tool) = {}; }`,
      "replaces label_ids and has no clear_labels",
    ],
    [
      "a deletion that looks harmless",
      `// Deletes.\n rpc DeleteAll(ReadRequest) returns (ReadResponse) { ${TOOL} }`,
      "deletes and does not say so",
    ],
    [
      "a removal that looks harmless",
      `// Removes.\n rpc RemoveSome(ReadRequest) returns (ReadResponse) { ${TOOL} }`,
      "deletes and does not say so",
    ],
    [
      "a verb that is not settled",
      `// Purges.\n rpc PurgeAll(ReadRequest) returns (ReadResponse) { ${TOOL} }`,
      "begins with purge, which is no verb of docs/api-style.md",
    ],
    [
      "a list in the singular",
      `// Lists.\n rpc ListSighting(ReadRequest) returns (ReadResponse) { ${TOOL} }`,
      "lists something that is not in the plural",
    ],
    [
      "the scope of another server",
      `// Reads.\n rpc Read(ReadRequest) returns (ReadResponse) { option (auth.v1.scope) = "aev:read"; option (mcp.v1.tool) = {}; }`,
      "of another server",
    ],
  ];

  const folder = mkdtempSync(join(tmpdir(), "api-"));
  let found: readonly string[] = [];
  beforeAll(() => {
    cpSync("proto", folder, { recursive: true, filter: (path) => !path.includes("gen") });
    for (const [i, [, rpcs]] of CASES.entries()) writeFileSync(join(folder, `wrong${i}.proto`), serviceOf(i, rpcs));
    found = problemsOf(imageOf(folder));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Each case is a server of its own, so that a name is there twice only if the case says so. */
  const serviceOf = (i: number, rpcs: string) => `syntax = "proto3";
    package wrong${i}.v1;
    import "auth/v1/access.proto";
    import "mcp/v1/tool.proto";
    // Wrong.
    service WrongService {
      option (mcp.v1.server) = "wrong${i}";
      ${rpcs.replaceAll('"cti:', `"wrong${i}:`)}
    }
    message ReadRequest {}
    message SetLabelsRequest { repeated string label_ids = 1; }
    message ReadResponse {}`;

  test.each(CASES.map(([what, , problem], i) => [what, problem, i] as const))("%s", (_what, problem, i) => {
    const own = new RegExp(`^wrong${i}\\b`);
    expect(found.filter((one) => own.test(one)).join("\n")).toContain(problem);
  });
});

describe("names that docs/api-style.md does not settle so are found", () => {
  const PAGE_SIZE = `
    // Rows per page; 25 if not given.
    optional int32 page_size = 11 [(buf.validate.field).int32 = {gte: 1, lte: 100}];`;
  const PAGE_TOKEN = `
    // The next_page_token of the previous page.
    string page_token = 12 [(buf.validate.field).string.max_len = 512];`;
  const NEXT = `
    // Token of the next page; absent on the last page.
    optional string next_page_token = 13;`;
  const TOTAL = `
    // Number of rows on all pages.
    int32 total_size = 14;`;
  const BOUND = `
    // Set if there may be more than total_size.
    optional bool total_size_is_lower_bound = 15;`;
  const REQUEST = PAGE_SIZE + PAGE_TOKEN;
  const RESPONSE = NEXT + TOTAL + BOUND;

  const CASES: readonly (readonly [what: string, request: string, response: string, problem: string])[] = [
    ["free text under another name", "string search = 1;", "", "takes search, which is called query"],
    ["an id without its noun", "string id = 1;", "", "takes id, which is named by its noun"],
    ["ids without their noun", "repeated string ids = 1;", "", "takes ids, which is named by its noun"],
    [
      "an id in place of a reference",
      "",
      "string owner_id = 1;",
      "answers ListResponse.owner_id, which is a reference",
    ],
    ["a row inside a wrapper", "", "repeated Wrapper rows = 1;", "answers rows with each row inside row"],
    ["another word for a label", "repeated string tags = 1;", "", "says tags in ListRequest.tags"],
    ["a page without a total", REQUEST, NEXT + BOUND, "is paged without ListResponse.total_size"],
    ["an answer that says nothing of pages", REQUEST, "", "is paged without ListResponse.next_page_token"],
    [
      "a total that is not always there beside a bound",
      REQUEST,
      RESPONSE.replace("int32 total_size", "optional int32 total_size"),
      "says of total_size what other lists do not say",
    ],
    ["a total of another type", REQUEST, RESPONSE.replace("int32", "int64"), "ListResponse.total_size of another type"],
    [
      "a token that is always there",
      REQUEST,
      RESPONSE.replace("optional string", "string"),
      "ListResponse.next_page_token of another type",
    ],
    ["other words on a page", REQUEST, RESPONSE.replace("Token of", "Gets"), "says of next_page_token what"],
    ["a page without a cap", REQUEST.replace(", lte: 100", ""), RESPONSE, "not bounded by 1 and 100"],
    ["a page before its rows", REQUEST, `${RESPONSE} string after = 16;`, "does not end ListResponse with"],
  ];
  const RIGHT = [`string query = 1; string owner_id = 2; ${REQUEST}`, `repeated Row rows = 1; ${RESPONSE}`] as const;
  const DEAR = [`\n// ${"Long. ".repeat(40_000)}\nstring query = 1;`, ""] as const;

  const folder = mkdtempSync(join(tmpdir(), "names-"));
  let found: readonly string[] = [];
  beforeAll(() => {
    cpSync("proto", folder, { recursive: true, filter: (path) => !path.includes("gen") });
    const wrong = CASES.map(([, request, response]) => [request, response] as const);
    for (const [i, [request, response]] of [...wrong, RIGHT, DEAR].entries())
      writeFileSync(join(folder, `list${i}.proto`), listOf(i, request, response));
    const ofGrc = listOf(wrong.length + 2, ...DEAR).replaceAll("cti", "grc");
    writeFileSync(join(folder, "grc.proto"), ofGrc);
    found = problemsOf(imageOf(folder));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** A tool list_<i>s with these fields. */
  const listOf = (i: number, request: string, response: string) => `syntax = "proto3";
    package cti.list${i}.v1;
    import "auth/v1/access.proto";
    import "buf/validate/validate.proto";
    import "mcp/v1/tool.proto";
    service ListService {
      option (mcp.v1.server) = "cti";
      // Lists.
      rpc List(ListRequest) returns (ListResponse) {
        option idempotency_level = NO_SIDE_EFFECTS;
        option (auth.v1.scope) = "cti:read";
        option (mcp.v1.tool) = {name: "list_${i}s"};
      }
    }
    message ListRequest { ${request} }
    message ListResponse { ${response} }
    message Row { string id = 1; string colour = 2; }
    message Wrapper { Row row = 1; int32 count = 2; }`;

  const foundIn = (i: number) => found.filter((problem) => problem.startsWith(`cti/list_${i}s `)).join("\n");

  test.each(CASES.map(([what, , , problem], i) => [what, problem, i] as const))("%s", (_what, problem, i) => {
    expect(foundIn(i)).toContain(problem);
  });

  test("a list that costs a model too much", () => {
    expect(found.join("\n")).toMatch(/tools\/list takes \d+ bytes a tool, more than 1210/);
  });

  test("a list of one server that costs too much", () => {
    expect(found.join("\n")).toMatch(/tools\/list of grc takes \d+ bytes a tool, more than 1188/);
  });

  test("and a list that is as all are is not", () => {
    expect(foundIn(CASES.length)).toBe("");
  });
});
