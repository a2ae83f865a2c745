import { expect, test } from "vitest";
import { eventsOf } from "../../../../clients/load/mcp/event-stream.js";

test.each(["\n", "\r\n", "\r"])("events are read with line ends %j", (end) => {
  const text = ["event: message", "data: one", "", ": a comment", "", "id: 1", "data:two", "data: three", "", ""].join(
    end,
  );
  expect(eventsOf(text)).toEqual(["one", "two\nthree"]);
});
