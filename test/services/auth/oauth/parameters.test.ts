import { afterAll, beforeAll, expect, test } from "vitest";
import { AuthorizationServerService } from "#proto/auth/v1/authorization_server_service_pb.js";
import { startStack } from "../stack.js";

let stack: Awaited<ReturnType<typeof startStack>>;

beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.close());

async function authorize(parameters: number): Promise<{ status: number; text: string }> {
  const query = Array.from({ length: parameters }, (_, i) => `p${i}=1`).join("&");
  const request = { method: "GET", target: `/oauth/authorize?${query}`, headers: [], address: "127.0.0.1" };
  const { handleHttp } = AuthorizationServerService.method;
  const { status, body } = await stack.as(stack.secrets.serviceKey, handleHttp, request);
  return { status, text: Buffer.from(body).toString() };
}

test("a request for authorization has at most 100 parameters", async () => {
  const [most, more] = [await authorize(100), await authorize(101)];
  expect(most.text).not.toContain("100 parameters");
  expect(most.text).toContain("client_id");
  expect(more.status).toBe(400);
  expect(more.text).toContain("The address has more than 100 parameters. Start again in the client");
});
