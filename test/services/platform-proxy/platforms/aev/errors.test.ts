import { expect, test } from "vitest";
import { refusalOf } from "../../../../../services/platform-proxy/platforms/aev/errors.js";

const session = { caller: { email: "ana@example.org" }, tool: "Test" } as never;

test.each([
  [{ asset_group_name: "x", asset_group_description: "y" }, "asset_group_name", "name: too long"],
  [{ scenario_tags: ["t"] }, "scenario_tags", "tags: too long"],
  [{ page: 1, filterGroup: {} }, "page", "page: too long"],
  [undefined, "tag_name", "tag_name: too long"],
])("of %j, a refused %s is told as our own field", (body, field, said) => {
  const text = JSON.stringify({ errors: { children: { [field]: { errors: ["Too long."] } } } });
  const reply = { status: 400, headers: {}, text, json: () => JSON.parse(text) };
  const error = refusalOf(reply, { session, request: { verb: "POST", path: "/api/x", body }, isRead: false });
  expect(error.rawMessage).toBe(`OpenAEV refused the arguments: ${said}`);
});
