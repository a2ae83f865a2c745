import { existsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { afterEach, expect, test } from "vitest";
import { silentLog } from "../../../../../services/shared/process/log.js";
import { announce, heardIn } from "../../../../../services/shared/rpc/lane/announcement.js";
import { GET, GET_PATH, headersOfGrpcPort, headOf, OURS, openByHand, startLane, untilOnLane } from "./support.js";

// A lane at a Unix domain socket.

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});
const start = async () => {
  const rig = await startLane({ lane: { at: "socket", log: silentLog } });
  const { server } = rig;
  const heard = heardIn(await headersOfGrpcPort(server.port, { "x-caller": "ana" }), `http://127.0.0.1:${server.port}`);
  if (heard === undefined || !("path" in heard)) throw new Error("no socket was announced");
  closings.push(() => rig.close());
  return { ...rig, path: heard.path, token: heard.token };
};

test("calls of our own processes come by the socket, in a directory that nobody else enters", async () => {
  const { dispatch, door, path, world } = await start();
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  await untilOnLane(dispatch, door);
  const calls = door.calls();
  const all = await Promise.all(Array.from({ length: 50 }, (_, i) => dispatch.unary(GET, { agentId: `a${i}` }, OURS)));
  expect(all.map(({ agent }) => agent?.id)).toEqual(Array.from({ length: 50 }, (_, i) => `a${i}`));
  expect(door.calls()).toBe(calls);
  expect(world.begun.length).toBeGreaterThan(50);
});

test("who has no token is told nothing there either", async () => {
  const { path, token, world } = await start();
  const before = world.begun.length;
  for (const wrong of ["", "x".repeat(token.length)]) {
    const { socket, said, closed } = openByHand({ path });
    socket.write(headOf(GET_PATH, { "x-lane-token": wrong, "content-length": 0 }));
    await closed;
    expect(said()).toBe("");
  }
  expect(world.begun.length).toBe(before);
});

test("the socket and its directory go when the lane closes", async () => {
  const { server, path } = await start();
  expect(existsSync(path)).toBe(true);
  await server.close(0);
  expect(existsSync(dirname(path))).toBe(false);
});

test("a socket is announced to this machine alone", () => {
  const told = (remoteAddress: string): string | null => {
    const header = new Headers();
    announce({ path: "/tmp/x", token: "t" }, { remoteAddress, localAddress: "10.0.0.5" } as never, header);
    return header.get("x-lane-token");
  };
  expect(told("127.0.0.1")).toBe("t");
  expect(told("10.0.0.5")).toBe("t");
  expect(told("10.0.0.6")).toBeNull();
});

test("what is announced leads to no other socket of the machine", () => {
  const heard = (path: string, url = "http://127.0.0.1:50051") =>
    heardIn(new Headers({ "x-lane-socket": path, "x-lane-token": "t" }), url);
  const path = `${tmpdir()}/sallyport-lane-a1B2c3/lane`;
  expect(heard(path)).toEqual({ path, token: "t" });
  for (const other of [
    "/var/run/docker.sock",
    "sallyport-lane-a1B2c3/lane",
    `${path}/../x`,
    `/${"long/".repeat(30)}sallyport-lane-a1B2c3/lane`,
    "",
  ])
    expect([other, heard(other)]).toEqual([other, undefined]);
  expect(heard(path, "https://127.0.0.1")).toBeUndefined();
});

test("a lane whose socket is gone leaves calls to the gRPC port", async () => {
  const one = await start();
  await untilOnLane(one.dispatch, one.door);
  await one.server.close(0);
  const other = await start();
  one.door.leadTo(other.server.port);
  const answered = async () =>
    (await one.dispatch.unary(GET, { agentId: "a" }, OURS).catch(() => undefined))?.agent?.id;
  await expect.poll(answered).toBe("a");
  await untilOnLane(one.dispatch, one.door);
});
