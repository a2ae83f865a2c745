import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { type Belonging, BelongingService } from "#proto/core/v1/belonging_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { call } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// What a person leaves behind, as an administrator sees it.

let program: Program;
let leaver: { id: string; key: string };
const options = (apiKey: string) =>
  ({ baseUrl: `${program.baseUrl}/rpc`, apiKey, httpVersion: "1.1", retries: 0 }) as const;
const admin = () => options(program.bootstrap.admin.api_key);

beforeAll(async () => {
  program = await startProgram();
  const { user } = await connectClient(UserService, admin()).createUser({
    email: "leaver@sallyport.example",
    name: "L",
  });
  const id = user?.id as string;
  const { token } = await connectClient(ApiKeyService, admin()).createApiKey({ userId: id, name: "key" });
  leaver = { id, key: token };
  const core = `${program.baseUrl}/mcp/core`;
  for (let i = 0; i < 5; i++) {
    await call(core, token, "create_prompt", { name: `prompt-${i}`, template: "the text of a prompt" });
  }
  await call(core, token, "create_variable", { name: "TOKEN", value: "very secret", secret: true });
  await call(core, token, "create_variable", { name: "PLAIN", value: "not secret" });
  await call(core, program.bootstrap.analyst.api_key, "create_prompt", { name: "somebody-else", template: "x" });
});
afterAll(() => program?.stop());

async function all(ownerId: string, pageSize: number): Promise<Belonging[]> {
  const client = connectClient(BelongingService, admin());
  const found: Belonging[] = [];
  for (let pageToken = ""; ; ) {
    const page = await client.listBelongings({ ownerId, pageSize, pageToken });
    expect(page.belongings.length).toBeLessThanOrEqual(pageSize);
    found.push(...page.belongings);
    pageToken = page.nextPageToken;
    if (pageToken === "") return found;
  }
}
const named = (found: readonly Belonging[]) => found.map(({ kind, name }) => `${kind} ${name}`).sort();
const OWNED = [
  ...["prompt prompt-0", "prompt prompt-1", "prompt prompt-2", "prompt prompt-3", "prompt prompt-4"],
  ...["variable PLAIN", "variable TOKEN"],
];

test.each([1, 2, 3, 7, 100])(
  "an administrator lists all of it, %i on a page, and nothing of its content",
  async (size) => {
    const found = await all(leaver.id, size);
    expect(named(found)).toEqual(OWNED);
    expect(found.filter(({ hasSecret }) => hasSecret).map(({ name }) => name)).toEqual(["TOKEN"]);
    expect(JSON.stringify(found, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(
      'secret"',
    );
  },
);

test("it is there when the person is deleted", async () => {
  await connectClient(UserService, admin()).deleteUser({ id: leaver.id });
  expect(named(await all(leaver.id, 100))).toEqual(OWNED);
});

test("nobody but administrators lists it, and a page token of another list is refused", async () => {
  const analyst = connectClient(BelongingService, options(program.bootstrap.analyst.api_key));
  await expect(analyst.listBelongings({ ownerId: leaver.id })).rejects.toThrow("permission_denied");
  for (const pageToken of [
    "x",
    Buffer.from("after:99 x").toString("base64url"),
    Buffer.from("after:x").toString("base64url"),
  ]) {
    await expect(
      connectClient(BelongingService, admin()).listBelongings({ ownerId: leaver.id, pageToken }),
    ).rejects.toThrow("page_token");
  }
});
