import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { reservePort } from "../../../services/launcher/ports.js";

const HOST = "127.0.0.1";

test("for 0, a free port that the system gives to nobody else", async () => {
  for (let i = 0; i < 50; i++) {
    const port = await reservePort(HOST, 0, "port");
    expect(port).toBeGreaterThanOrEqual(16_384);
    expect(port).toBeLessThan(32_768);
    const server = createServer().listen(port, HOST);
    await once(server, "listening");
    server.close();
    await once(server, "close");
  }
});

test("a port that is set is kept, and one that is taken is said", async () => {
  const taken = createServer().listen(0, HOST);
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  await expect(reservePort(HOST, port, "lane port")).rejects.toThrow(
    `lane port ${port} on ${HOST} is in use by another program: stop that program, or set another port`,
  );
  taken.close();
  await once(taken, "close");
  expect(await reservePort(HOST, port, "lane port")).toBe(port);
});

test("what cannot be listened on is said with the system's reason", async () => {
  await expect(reservePort("192.0.2.1", 0, "port")).rejects.toThrow(/^cannot listen on 192\.0\.2\.1:\d+ \(port\): .+/);
});
