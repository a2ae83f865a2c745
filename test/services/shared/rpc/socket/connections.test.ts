import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { unauthenticated } from "../../../../../services/shared/rpc/errors.js";
import type { Connection } from "../../../../../services/shared/rpc/socket/connection.js";
import { CONNECTION_LIMITS, Connections } from "../../../../../services/shared/rpc/socket/connections.js";
import { ANA, CHECK, call, envelope, GET_AGENT, open, startRig } from "./support.js";

/** Patience that does not grow while a test runs. */
const NEVER = 1e-9;

let server: Server;
let connections: Connections;
const clients: Socket[] = [];
beforeEach(async () => {
  server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  connections?.close();
  await new Promise((resolve) => server.close(resolve));
});

/** A connection that comes from an address. */
async function arrive(localAddress = "127.0.0.1"): Promise<Connection> {
  const { port } = server.address() as { port: number };
  const client = connect({ port, host: "127.0.0.1", localAddress });
  client.on("error", () => undefined);
  clients.push(client);
  const [socket] = (await once(server, "connection")) as [Socket];
  socket.on("error", () => undefined);
  return connections.open(socket) as Connection;
}

/** Whether it is begun with at once. */
function begins(connection: Connection): boolean {
  let hasBegun = false;
  connections.begin(connection, () => {
    hasBegun = true;
  });
  return hasBegun;
}

const limits = (some: Partial<typeof CONNECTION_LIMITS>) => ({ ...CONNECTION_LIMITS, perSecond: NEVER, ...some });

test("an address whose connection was hung up on waits, and no other does", async () => {
  connections = new Connections(limits({ burst: 8, penalty: 8 }));
  const first = await arrive();
  expect(begins(first)).toBe(true);
  connections.flooded(first);
  expect(first.isLeft).toBe(true);
  expect(begins(await arrive())).toBe(false);
  expect(begins(await arrive("127.0.0.2"))).toBe(true);
});

test("of those that are read the oldest make room: first who does not call, never who is being looked at", async () => {
  connections = new Connections(limits({ begun: 3 }));
  const [verified, busy, idle] = [await arrive(), await arrive(), await arrive()];
  for (const one of [verified, busy, idle]) {
    expect(begins(one)).toBe(true);
    await turn();
  }
  verified.calls = busy.calls = 1;
  verified.verifying = Promise.resolve();
  const isLeft = () => [verified, busy, idle].map((one) => one.isLeft);
  const comes = async (): Promise<void> => {
    const one = await arrive();
    one.calls = 1;
    one.verifying = Promise.resolve();
    let hasBegun = false;
    connections.begin(one, () => {
      hasBegun = true;
    });
    expect(hasBegun).toBe(false);
    await expect.poll(() => hasBegun).toBe(true);
  };
  expect(begins(await arrive("127.0.0.2"))).toBe(true);
  await comes();
  expect(isLeft()).toEqual([false, false, true]);
  await comes();
  expect(isLeft()).toEqual([false, true, true]);
});

test("to be hung up on twice costs once", async () => {
  connections = new Connections(limits({ burst: 8, penalty: 2 }));
  const first = await arrive();
  begins(first);
  connections.flooded(first);
  connections.flooded(first);
  expect(begins(await arrive())).toBe(true);
});

test("who is known costs nothing, and makes way for the next one of its address", async () => {
  connections = new Connections(limits({ burst: 1 }));
  const [first, second] = [await arrive(), await arrive()];
  expect(begins(first)).toBe(true);
  let secondBegan = false;
  connections.begin(second, () => {
    secondBegan = true;
  });
  expect(secondBegan).toBe(false);
  connections.known(first, ANA, false);
  await expect.poll(() => secondBegan).toBe(true);
});

test("of an address that has asked for little one connection is begun with in a turn of the loop", async () => {
  connections = new Connections(limits({}));
  const [first, second] = [await arrive(), await arrive()];
  let secondBegan = false;
  expect(begins(first)).toBe(true);
  connections.begin(second, () => {
    secondBegan = true;
  });
  expect(secondBegan).toBe(false);
  await expect.poll(() => secondBegan).toBe(true);
});

test("of a caller who comes again and again only so many connections cost nothing", async () => {
  connections = new Connections(limits({ burst: 2, arrivals: { burst: 1, perSecond: NEVER } }));
  const begun: boolean[] = [];
  for (let i = 0; i < 4; i++) {
    const one = await arrive();
    begun.push(begins(one));
    if (begun.at(-1)) connections.known(one, ANA, false);
  }
  expect(begun).toEqual([true, true, true, false]);
});

test("a caller who sends on when the call is over is hung up on", async () => {
  connections = new Connections(limits({ bytesPerSweep: 1_000 }));
  const [busy, resting, quiet] = [await arrive(), await arrive(), await arrive()];
  for (const one of [busy, resting, quiet]) {
    one.calls = 2;
    connections.known(one, ANA, false);
    one.socket.resume();
  }
  const sent = 64 << 10;
  for (const client of clients) client.write(Buffer.alloc(sent));
  await expect.poll(() => [busy, resting, quiet].map(({ socket }) => socket.bytesRead)).toEqual([sent, sent, sent]);
  for (const one of [resting, resting, quiet, quiet]) one.callEnded();
  clients[1]?.write(Buffer.alloc(sent));
  await expect.poll(() => resting.isLeft).toBe(true);
  expect([busy.isLeft, quiet.isLeft]).toEqual([false, false]);
});

test("a stranger may send more while its credential is being looked at, but not without end", async () => {
  connections = new Connections(limits({ bytesPerSweep: 1_000, bytesWhileVerified: 100_000 }));
  const [looked, much, unlooked] = [await arrive(), await arrive(), await arrive()];
  for (const one of [looked, much]) one.verifying = new Promise(() => undefined);
  for (const one of [looked, much, unlooked]) one.socket.resume();
  for (const [i, sent] of [64 << 10, 256 << 10, 64 << 10].entries()) clients[i]?.write(Buffer.alloc(sent));
  await expect.poll(() => [much.isLeft, unlooked.isLeft]).toEqual([true, true]);
  expect(looked.isLeft).toBe(false);
});

test("refused calls are counted for the address, also beyond what it may", async () => {
  connections = new Connections(limits({ burst: 3, refusals: 100, penalty: 0 }));
  const first = await arrive();
  begins(first);
  connections.refused(first);
  expect(first.isLeft).toBe(false);
  connections.refused(first);
  expect(first.isLeft).toBe(true);
  expect(connections.allows(await arrive())).toBe(false);
});

test("calls taken back are counted for their caller, over all connections", async () => {
  connections = new Connections(limits({ takenBack: { burst: 2, perSecond: NEVER } }));
  const [first, second] = [await arrive(), await arrive()];
  for (const one of [first, second]) {
    begins(one);
    connections.known(one, ANA, false);
    connections.takenBack(one);
  }
  expect(second.isLeft).toBe(false);
  connections.takenBack(second);
  expect(second.isLeft).toBe(true);
  expect(first.isLeft).toBe(false);
});

test("our own processes may take back what they like", async () => {
  connections = new Connections(limits({ takenBack: { burst: 1, perSecond: NEVER } }));
  const own = await arrive();
  connections.known(own, ANA, true);
  for (let i = 0; i < 10; i++) connections.takenBack(own);
  expect(own.isLeft).toBe(false);
});

test("a caller whose connections are all busy gets no further one, and one that rests gives way", async () => {
  connections = new Connections(limits({ perCaller: 2 }));
  const [first, second, third, fourth] = [await arrive(), await arrive(), await arrive(), await arrive()];
  for (const one of [first, second]) {
    one.calls = 1;
    connections.known(one, ANA, false);
  }
  third.calls = 1;
  connections.known(third, ANA, false);
  expect([first.isLeft, second.isLeft, third.isLeft]).toEqual([false, false, true]);
  third.socket.destroy();
  await once(third.socket, "close");
  first.calls = 0;
  fourth.calls = 1;
  connections.known(fourth, ANA, false);
  expect([first.isLeft, second.isLeft, fourth.isLeft]).toEqual([true, false, false]);
});

test("nothing is read of a connection before its turn", async () => {
  const sockets: Socket[] = [];
  const seen = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
  subscribe("net.server.socket", seen);
  const rig = await startRig({ connections: { burst: 1, perSecond: NEVER } });
  const pour = async (): Promise<void> => {
    const client = connect(rig.server.port, "127.0.0.1");
    client.on("error", () => undefined);
    clients.push(client);
    await once(client, "connect");
    client.write(Buffer.alloc(64 << 10));
  };
  await pour();
  await expect.poll(() => sockets[0]?.bytesRead).toBeGreaterThan(0);
  await pour();
  // The first is refused, so that whatever the loop would have read by now is read.
  await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  expect(sockets[1]?.bytesRead).toBe(0);
  unsubscribe("net.server.socket", seen);
  await rig.server.close(0);
});

test("requests of HTTP/1.1 in one packet are answered in order, and too many of them end the connection", async () => {
  const rig = await startRig();
  const request = `POST ${CHECK} HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`;
  const told = async (count: number): Promise<string> => {
    const socket = connect(rig.server.port, "127.0.0.1");
    socket.on("error", () => undefined);
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
      if (answer.split("SERVING").length === count + 1) socket.end();
    });
    socket.write(request.repeat(count));
    await new Promise((resolve) => socket.on("close", resolve));
    return answer;
  };
  expect((await told(8)).match(/HTTP\/1.1 200/g)).toHaveLength(8);
  expect((await told(200)).match(/HTTP\/1.1 200/g) ?? []).not.toHaveLength(200);
  await rig.server.close(0);
});

test("of a stranger's credentials one is verified at a time, and a good one opens the way", async () => {
  let verifying = 0;
  let most = 0;
  const rig = await startRig({
    authenticator: {
      async authenticate({ authorization }) {
        most = Math.max(most, ++verifying);
        await new Promise((resolve) => setImmediate(resolve));
        verifying--;
        if (authorization !== "Bearer ana") throw unauthenticated("this credential is not known");
        return { caller: ANA, assertion: "ana" };
      },
    },
  });
  const session = open(rig.url);
  const asked = (who: string) => getAgent(session, who);
  const bad = await Promise.all(Array.from({ length: 10 }, () => asked("nobody")));
  expect(bad.map(({ headers }) => headers["grpc-status"])).toEqual(Array(10).fill("16"));
  expect(most).toBe(1);
  const good = await Promise.all(Array.from({ length: 10 }, () => asked("ana")));
  expect(good.map(({ headers, trailers }) => headers["grpc-status"] ?? trailers["grpc-status"])).toEqual(
    Array(10).fill("0"),
  );
  session.destroy();
  await rig.server.close(0);
});

function getAgent(session: ClientHttp2Session, who: string) {
  const headers = { "content-type": "application/grpc+json", authorization: `Bearer ${who}` };
  return call(session, GET_AGENT, headers, envelope(Buffer.from('{"agentId":"a"}')));
}
