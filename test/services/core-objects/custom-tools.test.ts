import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CreateCustomToolRequestSchema,
  CustomToolService,
  type UpdateCustomToolRequestSchema,
} from "#proto/core/v1/custom_tool_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { VariableService } from "#proto/core/v1/variable_service_pb.js";
import { refusal } from "./refusal.js";
import { as, type Rig, startRig } from "./rig.js";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const { listCustomTools, getCustomTool, createCustomTool, updateCustomTool } = CustomToolService.method;
const variables = VariableService.method;
const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    host: { type: "string", description: "Which host." },
    days: { type: "integer", minimum: 1 },
    names: { type: "array", items: { type: "string" } },
  },
  required: ["host"],
};
const LOOKUP = {
  name: "look_up_host",
  description: "Looks a host up in the inventory.",
  method: "get",
  url: "https://inventory.example.com/hosts/{host}?days={days}",
  inputSchema: SCHEMA,
};

type Create = MessageInitShape<typeof CreateCustomToolRequestSchema>;
const create = async (who: string, request: Create) =>
  (await rig.dispatch.unary(createCustomTool, request, as(who))).customTool!;
const update = async (who: string, request: MessageInitShape<typeof UpdateCustomToolRequestSchema>) =>
  (await rig.dispatch.unary(updateCustomTool, request, as(who))).customTool!;
const read = async (who: string, customToolId: string) =>
  (await rig.dispatch.unary(getCustomTool, { customToolId }, as(who))).customTool!;
const variable = async (who: string, tier?: Tier) => {
  const sharing = tier === undefined ? [] : [{ to: "user:bob", tier }];
  const request = { name: "TOKEN", value: "a token that is secret", secret: true, sharing };
  return (await rig.dispatch.unary(variables.createVariable, request, as(who))).variable!.id;
};
const said = async (request: object) => (await refusal(create("alice", { ...LOOKUP, ...request })))[1];

test("a custom tool is kept as it was written, and its rows are without URL, headers and schema", async () => {
  const token = await variable("alice");
  const headers = [
    { name: "Authorization", value: "Bearer ", variableId: token },
    { name: "X-Source", value: "us" },
  ];
  const { id } = await create("alice", { ...LOOKUP, headers });
  expect(await read("alice", id)).toMatchObject({
    method: "get",
    url: LOOKUP.url,
    inputSchema: SCHEMA,
    timeoutSeconds: 30,
    headers: [
      { name: "Authorization", value: "Bearer ", variable: { id: token, name: "TOKEN" } },
      { name: "X-Source", value: "us" },
    ],
  });
  const { customTools } = await rig.dispatch.unary(listCustomTools, { query: LOOKUP.name }, as("alice"));
  expect(customTools[0]).toMatchObject({ id, method: "get", headers: [] });
  for (const member of ["url", "inputSchema", "timeoutSeconds"]) expect(customTools[0]).not.toHaveProperty(member);
});

test.each([
  ["ftp://example.com/", "url must be a URL that begins with http:// or https://"],
  ["https://user:pw@example.com/", "url must not contain a user name or a password"],
  ["https://example.com/?at=a@b#x", "url must have no fragment (#)"],
  ["http://169.254.169.254/latest/meta-data", "leads to a closed address"],
  ["http://0xa9fea9fe/", "leads to a closed address"],
  ["http://[::ffff:169.254.169.254]/", "leads to a closed address"],
  ["http://metadata.google.internal/", "leads to a closed address"],
  ["https://{host}/x", "url must contain its scheme and host"],
  ["https://example.com:{days}/x", "url must contain its scheme and host"],
  ["https://example.com{host}", "url must contain its scheme and host"],
  [
    "https://example.com/{hots}",
    "url uses {hots}, which is not an argument of input_schema: its arguments are host, days, names",
  ],
  ["https://example.com/{names}", "url uses {names}, which is an array"],
  ["https://example.com/{host", "url has a single { or }"],
])("the URL %s is refused", async (url, words) => {
  expect(await said({ url })).toContain(words);
});

test.each([
  [{ type: "array", items: { type: "string" } }, 'must have "type": "object"'],
  [{ type: "object", properties: { host: { $ref: "#/$defs/x" } } }, "input_schema.properties.host: has $ref"],
  [{ type: "object", anyOf: [] }, "input_schema: has anyOf, which not every model supports"],
  [{ type: "object", properties: { host: {} } }, "input_schema.properties.host: must have a type"],
  [{ type: "object", properties: { "a b": { type: "string" } } }, 'has the name "a b": use only letters'],
  [{ type: "object", properties: {}, required: ["host"] }, "input_schema.required: must be a list of names"],
  [
    { type: "object", properties: { host: { type: "string", pattern: "(" } } },
    "pattern: is not a valid regular expression",
  ],
  [{ type: "object", description: "x".repeat(17_000) }, "more than 16384"],
  [{ type: "object", additionalProperties: {} }, "input_schema.additionalProperties: must be true or false"],
  [{ type: "object", properties: { a: { type: "array" } } }, "input_schema.properties.a.items: must be an object"],
] as [JsonObject, string][])("the schema %j is refused", async (inputSchema, words) => {
  expect(await said({ url: "https://example.com/", inputSchema })).toContain(words);
});

test("a schema as deep as that is refused, also where it comes from elsewhere than a model", async () => {
  let deep: JsonObject = { type: "string" };
  for (let level = 0; level < 20; level++) deep = { type: "object", properties: { a: deep } };
  expect(await said({ url: "https://example.com/", inputSchema: deep })).toContain("is deeper than 6 levels");
});

test("headers are the tool's own to set, and are put and removed by name in any case", async () => {
  expect(await said({ headers: [{ name: "Host", value: "x" }] })).toContain("the service sets the header Host itself");
  expect(await said({ headers: [{ name: "X-A" }] })).toContain("the header X-A is empty");
  expect(await said({ headers: [{ name: "X-A", value: "a\r\nX-B: b" }] })).toContain("printable ASCII");
  expect(await said({ headers: [{ name: "X A", value: "a" }] })).toContain("the name of a header must be");
  const { id } = await create("alice", { ...LOOKUP, headers: [{ name: "X-A", value: "1" }] });
  const put = await update("alice", { customToolId: id, putHeaders: [{ name: "x-a", value: "2" }] });
  expect(put.headers).toMatchObject([{ name: "x-a", value: "2" }]);
  expect((await update("alice", { customToolId: id, removeHeaders: ["X-A"] })).headers).toEqual([]);
  expect(await refusal(update("alice", { customToolId: id, removeHeaders: ["X-A"] }))).toEqual([
    "InvalidArgument",
    "the custom tool has no header X-A to remove",
  ]);
});

test("a variable that the caller cannot see is not taken, and one that is used is not deleted", async () => {
  const hidden = await variable("alice");
  const headers = [{ name: "Authorization", variableId: hidden }];
  expect((await refusal(create("bob", { ...LOOKUP, headers })))[1]).toBe(
    `no variable that you can see has the id ${hidden}; list_variables returns the ids`,
  );
  const { id } = await create("alice", { ...LOOKUP, headers });
  const remove = () => rig.dispatch.unary(variables.deleteVariable, { variableId: hidden }, as("alice"));
  expect(await refusal(remove())).toEqual([
    "FailedPrecondition",
    `custom tools use this variable: look_up_host (${id}): remove the header with update_custom_tool and remove_headers`,
  ]);
  await update("alice", { customToolId: id, removeHeaders: ["authorization"] });
  await remove();
});

test("who cannot see a variable does not lead what uses it to another host", async () => {
  const headers = [{ name: "Authorization", variableId: await variable("alice") }];
  const sharing = [{ to: "user:bob", tier: Tier.MANAGE }];
  const { id } = await create("alice", { ...LOOKUP, headers, sharing });
  const path = await update("bob", { customToolId: id, url: "https://inventory.example.com/v2/{host}" });
  expect(path.headers).toMatchObject([{ variable: { id: headers[0]!.variableId } }]);
  for (const url of [
    "https://evil.example.com/{host}",
    "http://inventory.example.com/",
    "https://inventory.example.com:8443/",
  ])
    expect((await refusal(update("bob", { customToolId: id, url })))[1]).toContain("no variable that you can see");
  const elsewhere = { customToolId: id, url: "https://evil.example.com/{host}" };
  expect((await update("bob", { ...elsewhere, removeHeaders: ["Authorization"] })).headers).toEqual([]);
  const { id: seen } = await create("alice", {
    ...LOOKUP,
    headers: [{ name: "Authorization", variableId: await variable("alice", Tier.VIEW) }],
    sharing,
  });
  expect((await update("bob", { ...elsewhere, customToolId: seen })).url).toBe(elsewhere.url);
});

test("schema and URL are held to each other, whichever of them changes", async () => {
  const { id } = await create("alice", LOOKUP);
  const inputSchema: JsonObject = { type: "object", properties: {} };
  expect((await refusal(update("alice", { customToolId: id, inputSchema })))[1]).toContain("url uses {host}");
  const both = await update("alice", { customToolId: id, inputSchema, url: "https://example.com/" });
  expect(both).toMatchObject({ inputSchema, method: "get" });
  const { inputSchema: _, ...bare } = { ...LOOKUP, url: "https://example.com/" };
  expect((await create("alice", bare)).inputSchema).toEqual(inputSchema);
});

test.each([
  [{ type: "integer", minimum: "1" }, "input_schema.properties.x.minimum: must be a number"],
  [{ type: "string", maxLength: -1 }, "input_schema.properties.x.maxLength: must be a whole number, 0 or more"],
  [{ type: "string", description: 7 }, "input_schema.properties.x.description: must be a text"],
  [{ type: "string", enum: [] }, "input_schema.properties.x.enum: must be a list of the values that are allowed"],
  [
    { type: "integer", enum: [1, "two"] },
    'input_schema.properties.x: allows the value "two", which is not of its type integer',
  ],
])("a schema that contradicts itself is refused: %j", async (x, words) => {
  expect(await said({ url: "https://example.com/", inputSchema: { type: "object", properties: { x } } })).toBe(words);
});
