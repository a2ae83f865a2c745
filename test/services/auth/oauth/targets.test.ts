import { afterAll, beforeAll, expect, test } from "vitest";
import { AuthorizationServerService } from "#proto/auth/v1/authorization_server_service_pb.js";
import { startStack } from "../stack.js";

let stack: Awaited<ReturnType<typeof startStack>>;

beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.close());

test.each([
  "//",
  "//[",
  "\0\0//",
  "/\\",
  "\\\\",
  "http://[",
  " //",
  "\n",
  "/\n/\n",
  "/\t/",
  "/nowhere",
  "/oauth/nowhere",
])("there is nothing at %j, and that is no fault", async (target) => {
  const request = { method: "GET", target, headers: [], address: "127.0.0.1" };
  const { handleHttp } = AuthorizationServerService.method;
  expect((await stack.as(stack.secrets.serviceKey, handleHttp, request)).status).toBe(404);
});
