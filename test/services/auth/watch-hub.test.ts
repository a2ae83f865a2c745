import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { createOwnOrder } from "../../../services/auth/event-order.js";
import { createWatchHub, type WatchHub } from "../../../services/auth/watch-hub.js";
import { leasedAt, speak } from "./spoken-watcher.js";

const LEASE_MS = 300;
let hub: WatchHub;
beforeEach(() => {
  hub = createWatchHub({ order: createOwnOrder(1, 3), leaseMs: LEASE_MS, fenceMs: 0 });
});
afterEach(() => hub.close());

const connect = (watcher: string, since: number) => speak(hub, watcher, since);
const leased = (watcher: string) => leasedAt(hub, watcher);
const change = (id: string) => hub.publish([{ kind: EventKind.KEY, id }]);

describe("a watcher", () => {
  test("that is new has to drop what it keeps; one that missed events gets them again", async () => {
    expect(await connect("new", 0).next()).toMatchObject({ case: "welcome", value: { reset: true } });
    const since = hub.seq;
    await change("a");
    await change("b");
    const back = connect("back", since);
    expect(await back.next()).toMatchObject({ case: "welcome", value: { reset: false } });
    expect(await back.next()).toMatchObject({ case: "event", value: { id: "a" } });
    expect(await back.next()).toMatchObject({ case: "event", value: { id: "b" } });
  });

  test("that missed more than the log holds has to drop what it keeps", async () => {
    const since = hub.seq;
    for (const id of ["a", "b", "c"]) await change(id);
    expect(await connect("w", since).next()).toMatchObject({ value: { reset: false } });
    await change("d");
    expect(await connect("w", since).next()).toMatchObject({ value: { reset: true } });
  });

  test("that knows events of another time has to drop what it keeps", async () => {
    expect(await connect("w", hub.seq + 1).next()).toMatchObject({ value: { reset: true } });
  });

  test("cannot renew before it has said hello, nor say it twice", async () => {
    const watcher = await leased("w");
    watcher.hello();
    await expect(watcher.next()).rejects.toThrow(/hello once, as the first/);
  });
});

describe("publishing", () => {
  test("returns when the watcher has acknowledged that very event", async () => {
    const watcher = await leased("w");
    let returned = false;
    const published = change("a").then((outcome) => {
      returned = true;
      return outcome;
    });
    const event = await watcher.next();
    expect(event).toMatchObject({ case: "event", value: { id: "a" } });
    watcher.renew(hub.seq - 1);
    await watcher.next();
    expect(returned).toBe(false);
    watcher.renew(hub.seq);
    expect(await published).toMatchObject({ acknowledged: 1, expired: 0 });
  });

  test("does not believe an acknowledgement of what has not happened yet", async () => {
    const watcher = await leased("w");
    watcher.renew(hub.seq + 1_000);
    await watcher.next();
    expect(await change("a")).toMatchObject({ acknowledged: 0, expired: 1 });
  });

  test("waits for the lease of a watcher whose stream broke", async () => {
    const watcher = await leased("w");
    watcher.cut();
    const begun = performance.now();
    expect(await change("a")).toMatchObject({ acknowledged: 0, expired: 1 });
    expect(performance.now() - begun).toBeGreaterThan(LEASE_MS * 0.9);
  });

  test("does not wait for a watcher that said goodbye, and stops waiting when one does", async () => {
    const [gone, going] = [await leased("gone"), await leased("going")];
    gone.goodbye();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const published = change("a");
    await going.next();
    going.goodbye();
    expect(await published).toMatchObject({ acknowledged: 0, expired: 1 });
  });

  test("carries the lease over a reconnection, and takes nothing as acknowledged by it", async () => {
    const watcher = await leased("w");
    const before = hub.seq;
    watcher.cut();
    const published = change("a");
    const again = connect("w", before);
    expect((await again.next())?.case).toBe("welcome");
    expect(await again.next()).toMatchObject({ case: "event", value: { id: "a" } });
    const early = await Promise.race([published, new Promise((resolve) => setTimeout(resolve, 30, "waiting"))]);
    expect(early).toBe("waiting");
    again.renew(hub.seq);
    expect(await published).toMatchObject({ acknowledged: 1, expired: 0 });
  });

  test("needs nobody's acknowledgement where nobody holds a lease", async () => {
    expect(await change("a")).toMatchObject({ acknowledged: 0, expired: 0 });
  });
});
