import { afterAll, beforeAll, expect, test } from "vitest";
import { AuthorizationServerService } from "#proto/auth/v1/authorization_server_service_pb.js";
import { type Stack, startStack } from "../stack.js";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

async function register(metadata: unknown): Promise<{ status: number; text: string }> {
  const { status, body } = await stack.as(stack.secrets.serviceKey, AuthorizationServerService.method.handleHttp, {
    ...{ method: "POST", target: "/oauth/register", address: "192.0.2.1" },
    headers: [{ name: "content-type", value: "application/json" }],
    body: Buffer.from(JSON.stringify(metadata)),
  });
  return { status, text: Buffer.from(body).toString() };
}

const CLIENT = { redirect_uris: ["http://127.0.0.1:7/callback"], token_endpoint_auth_method: "none" };
const ODD = { constructor: 1, toString: null };

test.each([ODD, [ODD], [["EdDSA"]]])("an algorithm that is %j is refused by its name", async (value) => {
  expect(await register({ ...CLIENT, id_token_signed_response_alg: value })).toEqual({
    status: 400,
    text: expect.stringContaining("id_token_signed_response_alg must be a text"),
  });
});

test("members that nobody here knows may be objects", async () => {
  expect((await register({ ...CLIENT, vendor: ODD, id_token_signed_response_alg: "EdDSA" })).status).toBe(201);
});

test.each([null, 7, "text", []])("a registration that is %j is refused", async (metadata) => {
  expect((await register(metadata)).status).toBe(400);
});
