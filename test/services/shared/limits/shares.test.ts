import { beforeEach, expect, test } from "vitest";
import { exhausted, secondsOf } from "../../../../services/shared/limits/refusal.js";
import { callRatesOf, callRatesOfWorker } from "../../../../services/shared/limits/settings.js";
import { createShares, type Shares } from "../../../../services/shared/limits/shares.js";
import type { Caller } from "../../../../services/shared/rpc/call.js";

let now: number;
let shares: Shares;

beforeEach(() => {
  now = 0;
  const perKey = { perSecond: 2, burst: 3 };
  shares = createShares({ perKey, perUser: { perSecond: 3, burst: 5 } }, () => now);
});

const caller = (id: string, keyId: string): Caller => ({
  id,
  email: "",
  name: "",
  admin: false,
  groups: [],
  scopes: new Set(),
  keyId,
  service: false,
});
const take = (id: string, keyId: string): number => shares.take(shares.of(caller(id, keyId)));

test("a key has so many calls at once, and so many more a second", () => {
  expect([1, 2, 3].map(() => take("u", "k"))).toEqual([0, 0, 0]);
  expect(take("u", "k")).toBe(0.5);
  now = 500;
  expect([take("u", "k"), take("u", "k")]).toEqual([0, 0.5]);
  expect(take("v", "l")).toBe(0);
});

test("the keys of a user have so many calls together", () => {
  expect(["k", "l", "m", "n", "o"].map((key) => take("u", key))).toEqual([0, 0, 0, 0, 0]);
  expect(take("u", "p")).toBeCloseTo(1 / 3);
  expect(take("v", "q")).toBe(0);
});

test("a call that is refused costs nothing", () => {
  for (let i = 0; i < 100; i++) take("u", "k");
  expect(take("u", "l")).toBe(0);
});

test("workers have parts that make up the whole, rounded up", () => {
  const settings = { callsPerSecond: 1_000, callBurst: 2_000, userCallsPerSecond: 5, userCallBurst: 1 };
  expect(callRatesOf(settings)).toEqual({
    perKey: { perSecond: 1_000, burst: 2_000 },
    perUser: { perSecond: 5, burst: 1 },
  });
  expect(callRatesOfWorker(settings, 3)).toEqual({
    callsPerSecond: 334,
    callBurst: 667,
    userCallsPerSecond: 2,
    userCallBurst: 1,
  });
});

test("a refusal says when to try again, in whole seconds", () => {
  expect([0.01, 1, 1.2].map(secondsOf)).toEqual([1, 1, 2]);
  const { rawMessage, metadata, details } = exhausted(299.5);
  expect(rawMessage).toContain("wait 300 s");
  expect(metadata.get("retry-after")).toBe("300");
  // retry_delay { seconds: 300 }, as google/rpc/error_details.proto writes it.
  expect(details).toEqual([{ type: "google.rpc.RetryInfo", value: Uint8Array.of(0x0a, 3, 0x08, 0xac, 0x02) }]);
});
