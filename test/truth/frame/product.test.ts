import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { startProduct } from "./product.js";

test("a program whose people cannot be made is ended, and not left running", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const two = { one: "same@example.org", two: "same@example.org" };
  await expect(startProduct("grc", { PORT: String(port) }, two, true)).rejects.toThrow("same@example.org");
  await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow("fetch failed");
});
