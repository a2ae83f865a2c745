import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, expect, test } from "vitest";
import type { Caller } from "../../../../../services/shared/rpc/call.js";
import { announce, heardIn } from "../../../../../services/shared/rpc/lane/announcement.js";
import { ANA, authenticator, headersOfGrpcPort, startLane } from "./support.js";

// Who hears of a lane: our own processes that can reach it, and nobody else.

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});
const start = async (options: Parameters<typeof startLane>[0] = {}) => {
  const rig = await startLane(options);
  closings.push(() => rig.close());
  return rig;
};

/** A service account that came with an assertion of its own, and a process of ours that came with its key. */
const CALLERS: Readonly<Record<string, Caller>> = {
  account: { ...ANA, account: { id: "u1", name: "svc:reports", methods: ["core.v1.AgentService/*"] } },
  process: { ...ANA, service: true, scopes: new Set([...ANA.scopes, "internal"]) },
};

test("a process of ours hears of it, by its key or its caller's assertion; who comes with a key does not", async () => {
  const rig = await start({
    authenticator: {
      authenticate(credential) {
        const caller = CALLERS[credential.assertion ?? credential.authorization?.slice(7) ?? ""];
        return caller === undefined ? authenticator.authenticate(credential) : { caller, assertion: "" };
      },
    },
  });
  const heard = async (headers: Record<string, string>): Promise<boolean> => {
    const found = await headersOfGrpcPort(rig.server.port, headers);
    expect(found.has("alt-svc")).toBe(found.has("x-lane-token"));
    return found.has("x-lane-token");
  };
  expect(await heard({ "x-caller": "ana" })).toBe(true);
  expect(await heard({ authorization: "Bearer process" })).toBe(true);
  expect(await heard({ authorization: "Bearer ana" })).toBe(false);
  expect(await heard({ "x-caller": "account" })).toBe(false);
});

test("an error announces no lane", async () => {
  const rig = await start();
  rig.world.get = () => {
    throw new ConnectError("no", Code.NotFound);
  };
  const error = await headersOfGrpcPort(rig.server.port, { "x-caller": "ana" }).catch((problem: unknown) => problem);
  const { metadata } = ConnectError.from(error);
  expect([metadata.get("alt-svc"), metadata.get("x-lane-token")]).toEqual([null, null]);
});

test("each process has a token of its own", async () => {
  const [one, other] = [await start(), await start()];
  const tokenOf = async (port: number) => (await headersOfGrpcPort(port, { "x-caller": "ana" })).get("x-lane-token");
  const [a, b] = [await tokenOf(one.server.port), await tokenOf(other.server.port)];
  expect(a).toHaveLength(43);
  expect(b).not.toBe(a);
  expect(await tokenOf(one.server.port)).toBe(a);
});

test("a server without a lane announces none", async () => {
  const rig = await start({ lane: undefined });
  expect((await headersOfGrpcPort(rig.server.port, { "x-caller": "ana" })).has("alt-svc")).toBe(false);
});

test("a lane on loopback is announced to this machine alone, one on another address with the address that was called", () => {
  const told = (isLocal: boolean, remoteAddress: string, localAddress: string): string | null => {
    const header = new Headers();
    announce({ port: 7, token: "t", isLocal }, { remoteAddress, localAddress } as never, header);
    return header.get("alt-svc");
  };
  const local = 'http%2F1.1="127.0.0.1:7"';
  expect(told(true, "127.0.0.1", "127.0.0.1")).toBe(local);
  expect(told(true, "::ffff:127.0.0.1", "::ffff:127.0.0.1")).toBe(local);
  expect(told(true, "10.0.0.5", "10.0.0.5")).toBe(local);
  expect(told(true, "10.0.0.6", "10.0.0.5")).toBeNull();
  expect(told(false, "10.0.0.6", "10.0.0.5")).toBe('http%2F1.1=":7"');
});

test("what is announced leads to the address that was called or to this machine, and nowhere else", () => {
  const heard = (value: string, url = "http://core.example.org:50051", token: string | undefined = "t") =>
    heardIn(new Headers({ "alt-svc": value, ...(token !== undefined && { "x-lane-token": token }) }), url);
  expect(heard('http%2F1.1=":7"')).toEqual({ host: "core.example.org", port: 7, token: "t" });
  expect(heard('http%2F1.1=":7"', "http://[::1]:50051")).toEqual({ host: "::1", port: 7, token: "t" });
  expect(heard('http%2F1.1="127.0.0.1:7"')).toEqual({ host: "127.0.0.1", port: 7, token: "t" });
  for (const other of ['http%2F1.1="evil.example.org:7"', 'h2=":7"', 'http%2F1.1=":7", h2=":8"', "clear", ""]) {
    expect(heard(other)).toBeUndefined();
  }
  expect(heard('http%2F1.1=":7"', "https://core.example.org")).toBeUndefined();
  expect(heardIn(new Headers({ "alt-svc": 'http%2F1.1=":7"' }), "http://a")).toBeUndefined();
});
