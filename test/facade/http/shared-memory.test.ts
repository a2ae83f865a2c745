import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { PreparedText } from "../../../facade/catalogue/prepared-text.js";
import type { Edge } from "../../../facade/http/edge.js";
import { onEachEdge } from "../support/edges.js";
import { raw, requestText } from "../support/raw.js";

// Lists are sent from memory that the next answer writes its id into.

let edge: Edge | undefined;
afterEach(() => edge?.close());

onEachEdge(({ listen }) => {
  test("a client that reads slowly gets its own id, also if another asks for the same list meanwhile", async () => {
    const list = new PreparedText(`{"result":"${"x".repeat(16 << 20)}","id":`);
    edge = await listen({ host: "127.0.0.1", port: 0, exclusive: true }, (exchange) =>
      exchange.answer(200, ["content-type", "application/json"], list.with(exchange.query)),
    );
    const { port } = edge;
    const asked = (id: string) => raw(port, requestText(`/?${id}`, ["host: 127.0.0.1"], "", "GET"));
    const slow = asked("slow");
    slow.socket.pause();
    await sleep(200);
    const other = asked("another");
    const endOf = (text: string): string | undefined => /"id":"\w+"}$/.exec(text.slice(-40))?.[0];
    await expect.poll(() => endOf(other.text())).toBe('"id":"another"}');
    slow.socket.resume();
    await expect.poll(() => slow.text().length > 16 << 20 && endOf(slow.text())).toBe('"id":"slow"}');
    for (const { socket } of [slow, other]) socket.destroy();
  });
});
