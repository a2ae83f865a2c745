import { expect, test } from "vitest";
import { COLUMNS, type Kind, kindsOf } from "../../scripts/resources/kinds.js";
import { tableOf } from "../../scripts/resources/page.js";
import { REASONS } from "../../scripts/resources/reasons.js";
import { SERVERS } from "../../services/shared/platforms.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools, type Tool } from "../../services/shared/tools/tools.js";

const all = readTools(readImage());
const of = (server: string) => all.filter((tool) => tool.server === server);
const toolsOf = (kind: Kind) => COLUMNS.flatMap((column) => kind.tools[column]);

test.each(SERVERS)("each tool of %s has one place among its kinds, and reads and writes stand apart", (server) => {
  const tools = of(server);
  const kinds = kindsOf(tools);
  const names = tools.map(({ name }) => name);
  expect(kinds.flatMap(toolsOf).sort()).toEqual([...names].sort());
  const reads = kinds.flatMap((kind) => [...kind.tools.list, ...kind.tools.read]);
  const writes = kinds.flatMap(({ tools }) => [...tools.create, ...tools.update, ...tools.delete]);
  for (const { name, readOnly } of tools) expect(readOnly ? writes : reads).not.toContain(name);
  for (const name of kinds.flatMap((kind) => kind.tools.delete))
    expect(tools.find((tool) => tool.name === name)?.listing.annotations.destructiveHint, name).toBe(true);
});

test("a reason is about a kind that exists, and names no tool", () => {
  const names = new Set(all.map(({ name }) => name));
  for (const { server, kinds, reasons } of REASONS) {
    const known = kindsOf(of(server)).map(({ name }) => name);
    for (const kind of kinds) expect(known, server).toContain(kind);
    for (const reason of Object.values(reasons)) {
      for (const word of reason.match(/[a-z]+_[a-z_]+|whoami/g) ?? []) expect(names).not.toContain(word);
    }
  }
  const told = REASONS.flatMap(({ server, kinds }) => kinds.map((kind) => `${server} ${kind}`));
  expect(new Set(told).size).toBe(told.length);
});

/** A tool that is named so, of a toolset, which requires these arguments. */
function named(name: string, toolset: string, required: readonly string[] = []): Tool {
  const { listing, ...rest } = of("grc")[0] as Tool;
  return { ...rest, name, toolset, server: "grc", listing: { ...listing, name, inputSchema: { required } } } as Tool;
}

test("a new tool finds its row: its own kind, a part of one, or a kind found in another way", () => {
  const kinds = kindsOf([
    named("list_widgets", "widget"),
    named("create_widget", "widget"),
    named("list_red_widgets", "widget"),
    named("list_widget_screws", "screw", ["widget_id"]),
    named("set_widget_colour", "paint", ["widget_id"]),
    named("list_widget_sorts", "widget"),
    named("launch_widget", "widget"),
    named("list_widget_boxes", "box"),
    named("get_widget_box", "box"),
  ]);
  expect(kinds.map(({ name }) => name)).toEqual(["widget", "widget sort", "widget box"]);
  expect(kinds[0]).toMatchObject({
    toolsets: ["widget", "screw", "paint"],
    tools: {
      list: ["list_widgets", "list_red_widgets"],
      read: ["list_widget_screws"],
      create: ["create_widget"],
      update: ["set_widget_colour"],
      delete: [],
      other: ["launch_widget"],
    },
  });
});

test("a cell has the tools, or else the reason, or else a dash", () => {
  const reasons = [{ server: "grc", kinds: ["widget"], reasons: { list: "not shown", delete: "never" } }];
  expect(tableOf("grc", [named("list_widgets", "widget"), named("create_widget", "widget")], reasons).at(-1)).toBe(
    "| widget | `widget` | `list_widgets` | — | `create_widget` | — | never |  |",
  );
});
