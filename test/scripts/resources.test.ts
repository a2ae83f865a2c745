import { expect, test } from "vitest";
import { RESOURCES } from "../../scripts/resources/page.js";
import { problemsOf, type Resource, tableOf } from "../../scripts/resources/resource.js";
import { SERVERS } from "../../services/shared/platforms.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools } from "../../services/shared/tools/tools.js";

const tools = readTools(readImage());
const of = (server: string) => tools.filter((tool) => tool.server === server);

test.each(SERVERS)("each tool of %s has its place among the resources, and each cell a tool or a reason", (server) => {
  expect(problemsOf(RESOURCES[server] ?? [], of(server))).toEqual([]);
});

test("what a table may not say is found", () => {
  const wrong: Resource = {
    name: "thing",
    list: [],
    read: ["create_control"],
    create: ["get_control"],
    update: "never",
    delete: ["update_control"],
    besides: ["no_such_tool"],
  };
  const some = of("grc").filter(({ name }) => name.endsWith("_control"));
  expect(problemsOf([wrong], some)).toEqual([
    "thing, list: neither a tool nor a reason",
    "thing, read: create_control writes",
    "thing, create: get_control only reads",
    'thing, update: "never" is no reason',
    "thing, delete: update_control is not marked destructive",
    "thing, besides: there is no tool no_such_tool",
    "delete_control is in no row",
  ]);
  expect(tableOf([wrong]).at(-1)).toBe(
    "| thing |  | `create_control` | `get_control` | never | `update_control` | `no_such_tool` |",
  );
});
