import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { once, requestBytes } from "./load.js";
import { listenBare } from "./servers/listen-bare.js";

const ANSWER = { status: 200, headers: [], body: Buffer.from("the list").toString("base64") };
const MESSAGE = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });

test("the floor that reads answers a message of whom it knows, and closes the connection of others", async () => {
  const port = await listenBare({ ...ANSWER, authorization: "Bearer known" });
  const answer = await once(port, requestBytes("/mcp/cti", { authorization: "Bearer known" }, MESSAGE));
  expect([answer.status, answer.body.toString()]).toEqual([200, "the list"]);
  for (const [authorization, body] of [
    ["Bearer other", MESSAGE],
    ["Bearer known", "{}"],
  ] as const) {
    const socket = connect(port, "127.0.0.1");
    socket.write(requestBytes("/mcp/cti", { authorization }, body));
    expect(await text(socket)).toBe("");
  }
});
