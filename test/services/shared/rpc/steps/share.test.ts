import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { EndpointService } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { createShares, type Shares } from "../../../../../services/shared/limits/shares.js";
import { silentLog } from "../../../../../services/shared/process/log.js";
import type { Authenticator, Caller, Credential } from "../../../../../services/shared/rpc/call.js";
import { type RpcServer, serveConnect } from "../../../../../services/shared/rpc/connect.js";
import { unary } from "../../../../../services/shared/rpc/method.js";
import { connectRemote } from "../../../../../services/shared/rpc/remote.js";
import type { Outcome } from "../../../../../services/shared/rpc/steps/record.js";

// The gRPC port counts the calls of who presents a key there, and of nobody else.

const ANA: Caller = {
  id: "u1",
  email: "ana@example.org",
  name: "Ana",
  admin: false,
  groups: [],
  scopes: new Set(["account", "public"]),
  keyId: "k1",
  service: false,
};
const CALLERS: Readonly<Record<string, Caller>> = {
  "Bearer ana": ANA,
  "Bearer ana's other": { ...ANA, keyId: "k2" },
  "Bearer facade": { ...ANA, id: "facade", keyId: "k3", service: true },
};
const SOAR = { id: "a1", name: "svc:soar", methods: ["catalogue.v1.EndpointService/*"] };
/** Ana, for whom a service account acts: at this door, and where a service of ours calls on for it. */
const ASSERTED: Readonly<Record<string, Caller>> = {
  soar: { ...ANA, keyId: "", account: SOAR },
  "soar's call on": { ...ANA, keyId: "", account: SOAR, scopes: new Set(["account", "delegated"]) },
};

const authenticator: Authenticator = {
  authenticate: ({ assertion, authorization }) => ({
    caller: assertion === undefined ? (CALLERS[authorization as string] as Caller) : (ASSERTED[assertion] ?? ANA),
    assertion: "ana",
  }),
};

let shares: Shares;
let outcomes: Outcome[];
let server: RpcServer;

const steps = {
  authenticator,
  log: silentLog,
  observe: (_method: unknown, _call: unknown, outcome: Outcome) => void outcomes.push(outcome),
  // Anew for each test, while the server stays.
  get shares() {
    return new Proxy({} as Shares, { get: (_none, name) => shares[name as keyof Shares] });
  },
};
const methods = [
  unary(EndpointService.method.listVisibleTools, ({ server: name }) => ({ tools: [name], keepMs: 1 })),
  unary(SettingService.method.registerPlatform, () => ({ server: "cti" })),
].map((method) => ({ method, steps }));

beforeAll(async () => {
  server = await serveConnect({ host: "127.0.0.1", port: 0, methods });
});
afterAll(() => server.close(100));
beforeEach(() => {
  outcomes = [];
  // The clock stands still, so that no call comes back.
  const perUser = { perSecond: 0.1, burst: 5 };
  shares = createShares({ perKey: { perSecond: 0.1, burst: 3 }, perUser }, () => 0);
});

async function call(credential: Credential): Promise<ConnectError | undefined> {
  const dispatch = connectRemote({ catalogue: `http://127.0.0.1:${server.port}` });
  try {
    await dispatch.unary(EndpointService.method.listVisibleTools, { server: "cti" }, { credential });
    return undefined;
  } catch (error) {
    return ConnectError.from(error);
  }
}

async function codes(count: number, credential: Credential): Promise<(Code | undefined)[]> {
  const found = [];
  for (let i = 0; i < count; i++) found.push((await call(credential))?.code);
  return found;
}

test("one call too many of a key says when to try again, and is recorded", async () => {
  const credential = { authorization: "Bearer ana" };
  expect(await codes(3, credential)).toEqual([undefined, undefined, undefined]);
  const error = await call(credential);
  expect(error).toMatchObject({ code: Code.ResourceExhausted, rawMessage: expect.stringContaining("wait 10 s") });
  expect(error?.metadata.get("retry-after")).toBe("10");
  expect(error?.details).toMatchObject([{ type: "google.rpc.RetryInfo" }]);
  expect(outcomes.map(({ code, caller }) => [code, caller?.id])).toEqual([
    [undefined, "u1"],
    [undefined, "u1"],
    [undefined, "u1"],
    [Code.ResourceExhausted, "u1"],
  ]);
});

test("the keys of a user are counted together", async () => {
  expect(await codes(3, { authorization: "Bearer ana" })).toEqual([undefined, undefined, undefined]);
  const others = await codes(3, { authorization: "Bearer ana's other" });
  expect(others).toEqual([undefined, undefined, Code.ResourceExhausted]);
});

test("what the façade has counted is not counted again, nor are services of ours", async () => {
  expect(new Set(await codes(10, { assertion: "ana" }))).toEqual(new Set([undefined]));
  expect(new Set(await codes(10, { authorization: "Bearer facade" }))).toEqual(new Set([undefined]));
  expect(await codes(1, { authorization: "Bearer ana" })).toEqual([undefined]);
});

test("a service account's calls are its own, also those for a user, and what is called on for it was counted before", async () => {
  const own = await codes(4, { assertion: "soar" });
  expect(own).toEqual([undefined, undefined, undefined, Code.ResourceExhausted]);
  expect(new Set(await codes(10, { assertion: "soar's call on" }))).toEqual(new Set([undefined]));
  expect(await codes(3, { authorization: "Bearer ana" })).toEqual([undefined, undefined, undefined]);
});

test("a call that waits for its turn is answered and recorded like any other", async () => {
  await call({ authorization: "Bearer ana's other" });
  const both = Array.from({ length: 4 }, (_, i) =>
    call({ authorization: i % 2 ? "Bearer ana" : "Bearer ana's other" }),
  );
  expect(await Promise.all(both)).toEqual([undefined, undefined, undefined, undefined]);
  expect(outcomes.map(({ code }) => code)).toEqual([undefined, undefined, undefined, undefined, undefined]);
  expect(shares.of(ANA).active).toBe(0);
});
