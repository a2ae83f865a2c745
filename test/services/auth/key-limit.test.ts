import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { type Stack, startStack } from "./stack.js";

const LIMIT = 200;
const FREE = 5;
let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

test("keys made at the same time are no more than a user can have", async () => {
  const { keys } = stack.records;
  const mine = await keys.findOne({ _id: stack.secrets.analyst.apiKey.split("_")[1] as string });
  if (mine === null) throw new Error("the analyst's key is not there");
  const live = { user_id: mine.user_id, revoked_at: null };
  const missing = LIMIT - FREE - (await keys.countDocuments(live));
  for (let i = 0; i < missing; i++) {
    await keys.insertOne({ ...mine, _id: `other${i}`, serial: `other${i}`, name: `Other ${i}` });
  }
  const made = Array.from({ length: 4 * FREE }, (_, i) =>
    stack.as(stack.secrets.analyst.apiKey, ApiKeyService.method.createApiKey, { name: `New ${i}` }).then(
      () => undefined,
      (error: unknown) => ConnectError.from(error).code,
    ),
  );
  const codes = await Promise.all(made);
  expect(await keys.countDocuments(live)).toBeLessThanOrEqual(LIMIT);
  expect(codes.filter((code) => code === Code.FailedPrecondition).length).toBeGreaterThanOrEqual(3 * FREE);
});
