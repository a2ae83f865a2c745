import { afterAll, beforeAll, expect, test } from "vitest";
import { post, toolNames } from "../support/mcp.js";
import { freePorts, type Program, startProgram } from "../support/program.js";

let program: Program;
beforeAll(async () => {
  const [nobody] = await freePorts(1);
  program = await startProgram({ env: { CTI_URL: `http://127.0.0.1:${nobody}` } });
});
afterAll(() => program?.stop());

const said = async (name: string, args: object) => {
  const { status, body } = await post(`${program.baseUrl}/mcp/cti`, program.bootstrap.admin.api_key, "tools/call", {
    name,
    arguments: args,
  });
  const [content] = (body.result?.content ?? []) as { text: string }[];
  return { status, isError: body.result?.isError, text: content?.text ?? "" };
};

test("a platform that cannot be reached leaves its read tools on the list", async () => {
  const names = await toolNames(`${program.baseUrl}/mcp/cti`, program.bootstrap.admin.api_key);
  expect(names).toContain("whoami");
  expect(names.some((name) => /^(create|update|delete|add|remove)_/.test(name))).toBe(false);
});

test.each([
  ["a tool that reads", "whoami", {}],
  [
    "a tool that writes, though it is not listed now",
    "delete_entity",
    { object_id: "11111111-1111-4111-8111-111111111111" },
  ],
])("%s says that the platform cannot be reached", async (_what, name, args) => {
  expect(await said(name, args)).toMatchObject({
    status: 200,
    isError: true,
    text: expect.stringMatching(/the cti platform (cannot be reached|does not answer)/),
  });
});

test("the other endpoints serve on", async () => {
  const names = await toolNames(`${program.baseUrl}/mcp/grc`, program.bootstrap.admin.api_key);
  expect(names).toContain("delete_control");
});
