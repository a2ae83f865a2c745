import { create, type Message } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { createCallableTool, MAX_RESULT, type ToolDispatch } from "../../../../services/shared/tools/callable-tool.js";
import { readImage } from "../../../../services/shared/tools/image.js";
import { readTools, type Tool } from "../../../../services/shared/tools/tools.js";

const TOOLS = readTools(readImage());
const found = (is: (tool: Tool) => boolean): Tool => TOOLS.find(is) as Tool;
const STREAMED = found(({ method }) => method.methodKind === "server_streaming");
const UNARY = found(({ name }) => name === "list_agents");

/** A service whose stream has these events. */
function streaming(...events: readonly object[]): ToolDispatch<string> {
  return {
    unary: () => Promise.reject(new Error("not a stream")),
    async *stream() {
      for (const event of events) yield { event } as unknown as Message;
    },
  };
}

test("a unary rpc is called with what goes with the call", async () => {
  const reply = create(UNARY.method.output);
  const called: unknown[] = [];
  const dispatch: ToolDispatch<string> = {
    unary: async (method, request, call) => {
      called.push([method.name, request.$typeName, call]);
      return reply;
    },
    stream: () => {
      throw new Error("not unary");
    },
  };
  const tool = createCallableTool(UNARY, true);
  expect(await tool.call(dispatch, tool.decode({}), "ana's")).toBe(reply);
  expect(called).toEqual([[UNARY.method.name, UNARY.method.input.typeName, "ana's"]]);
});

test("of a stream the result is given, and progress before it with hidden characters written out", async () => {
  const tool = createCallableTool(STREAMED, true);
  const result = create(STREAMED.result);
  const notes: unknown[] = [];
  const events = [
    { case: "progress", value: { done: 1, total: 2, message: "a\u202e" } },
    { case: "result", value: result },
    { case: "progress", value: { done: 2, message: "after" } },
  ];
  expect(await tool.call(streaming(...events), result, "", (note) => notes.push(note))).toBe(result);
  expect(notes).toEqual([{ done: 1, total: 2, message: "a‹U+202E›" }]);
});

test("a stream that ends without a result is an error of ours", async () => {
  const tool = createCallableTool(STREAMED, true);
  await expect(tool.call(streaming(), create(STREAMED.result), "")).rejects.toMatchObject({ code: Code.Internal });
});

test("a long result is cut, and is JSON", () => {
  const description = "d".repeat(2_000);
  const agents = Array.from({ length: 100 }, (_, n) => ({ id: `a${n}`, name: `agent ${n}`, description }));
  const text = createCallableTool(UNARY, true).textOf(create(UNARY.result, { agents } as never));
  expect(text.length).toBeLessThanOrEqual(MAX_RESULT);
  expect(JSON.parse(text)).toMatchObject({ truncated: true });
});
