import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { openSharedOrder, type SharedOrder } from "../../../services/auth/shared-order.js";
import { type AuthStore, openAuthStore } from "../../../services/auth/store.js";
import { createWatchHub, type WatchHub } from "../../../services/auth/watch-hub.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { titled } from "../../support/titled.js";
import { backends } from "../shared/store/backends.js";
import { leasedAt, speak } from "./spoken-watcher.js";

const LEASE_MS = 300;
/** The time after its last beat in which a process may give leases, and these run. */
const OVER_MS = LEASE_MS / 3 + LEASE_MS;

interface Process {
  readonly order: SharedOrder;
  readonly hub: WatchHub;
  /** From now on it gets no answer from the store, as one that is stopped; what it asked is asked when it goes on. */
  stop(): void;
  goOn(): void;
}

describe.each(backends)("auth processes of one store, on $title", ({ open, missing }) => {
  let opened: Awaited<ReturnType<typeof open>>;
  let processes: Process[];

  beforeEach(async () => {
    if (missing !== undefined) return;
    opened = await open();
    processes = [];
  });
  afterEach(async () => {
    if (missing !== undefined) return;
    for (const { order, hub, goOn } of processes) {
      goOn();
      hub.close();
      await order.close();
    }
    await opened.close();
  });

  async function start(logged = 100): Promise<Process> {
    const { store, stop, goOn } = stoppable(await openAuthStore(opened.store));
    const order = await openSharedOrder({ store, leaseMs: LEASE_MS, logged, log: silentLog });
    const hub = createWatchHub({ order, leaseMs: LEASE_MS, fenceMs: 0 });
    const process = { order, hub, stop, goOn };
    processes.push(process);
    return process;
  }

  const publish = ({ hub }: Process, id: string) => hub.publish([{ kind: EventKind.KEY, id }]);
  const event = (id: string) => expect.objectContaining({ case: "event", value: expect.objectContaining({ id }) });

  /** As a façade does: renews its lease and acknowledges all it is told, until its stream ends. */
  function listen(watcher: ReturnType<typeof speak>): string[] {
    const heard: string[] = [];
    let ack = 0;
    const renewing = setInterval(() => watcher.renew(ack), LEASE_MS / 4);
    void (async () => {
      for (let said = await watcher.next(); said !== undefined; said = await watcher.next()) {
        if (said.case !== "event") continue;
        heard.push(said.value.id as string);
        ack = Number(said.value.seq);
        watcher.renew(ack);
      }
      clearInterval(renewing);
    })();
    return heard;
  }

  const each = (title: string, body: () => Promise<void>) => test.skipIf(missing)(titled(title, missing), body);

  each("publishing returns when the watchers of every process have acknowledged", async () => {
    const [a, b, c] = [await start(), await start(), await start()];
    const heard = [listen(await leasedAt(a.hub, "wa")), listen(await leasedAt(b.hub, "wb"))];
    const last = await leasedAt(c.hub, "wc");
    let returned = false;
    const published = publish(a, "k").finally(() => {
      returned = true;
    });
    expect(await last.next()).toEqual(event("k"));
    await sleep(LEASE_MS / 4);
    expect(returned).toBe(false);
    expect(heard).toEqual([["k"], ["k"]]);
    last.renew(c.hub.seq);
    expect(await published).toMatchObject({ acknowledged: 3, expired: 0 });
  });

  each("publishing waits for the lease of a watcher of another process that says nothing", async () => {
    const [a, b] = [await start(), await start()];
    const begun = performance.now();
    await leasedAt(b.hub, "silent");
    expect(await publish(a, "k")).toMatchObject({ acknowledged: 0, expired: 1 });
    expect(performance.now() - begun).toBeGreaterThan(LEASE_MS);
  });

  each("events that several processes publish at once have one order without gaps", async () => {
    const all = [await start(), await start(), await start()];
    const heard = await Promise.all(all.map(async ({ hub }, i) => listen(await leasedAt(hub, `w${i}`))));
    const before = all[0]!.hub.seq;
    const ids = Array.from({ length: 45 }, (_, i) => `e${i}`);
    const published = await Promise.all(ids.map((id, i) => publish(all[i % 3]!, id)));
    expect(new Set(published.map(({ seq }) => seq)).size).toBe(45);
    expect(Math.max(...published.map(({ seq }) => seq))).toBe(before + 45);
    for (const one of heard) expect([...one].sort()).toEqual([...ids].sort());
    expect(heard[1]).toEqual(heard[0]);
    expect(heard[2]).toEqual(heard[0]);
  });

  each("a watcher that goes to another process gets what it missed, and its old lease is waited for", async () => {
    const [a, b] = [await start(), await start()];
    const watcher = await leasedAt(b.hub, "w");
    const since = b.hub.seq;
    watcher.cut();
    const begun = performance.now();
    const published = publish(a, "k");
    const moved = speak(a.hub, "w", since);
    expect((await moved.next())?.case).toBe("welcome");
    expect(await moved.next()).toEqual(event("k"));
    expect(await published).toMatchObject({ expired: 1 });
    expect(performance.now() - begun).toBeGreaterThan(LEASE_MS * 0.8);
  });

  each("one that begins knows the events before, and is waited for from then on", async () => {
    const a = await start();
    const since = a.hub.seq;
    await publish(a, "before");
    const b = await start();
    const watcher = speak(b.hub, "w", since);
    expect(await watcher.next()).toMatchObject({ case: "welcome", value: { reset: false } });
    expect(await watcher.next()).toEqual(event("before"));
    listen(watcher);
    watcher.renew(b.hub.seq);
    expect(await publish(a, "after")).toMatchObject({ acknowledged: 1 });
  });

  each("nobody waits for one that ended and whose watchers gave their leases back", async () => {
    const [a, b] = [await start(), await start()];
    const watcher = await leasedAt(b.hub, "w");
    watcher.goodbye();
    await sleep(5);
    b.hub.close();
    await b.order.close();
    const begun = performance.now();
    expect(await publish(a, "k")).toMatchObject({ acknowledged: 0, expired: 0 });
    expect(performance.now() - begun).toBeLessThan(LEASE_MS);
  });

  each("publishing waits until the leases that a stopped process gave are over, and no longer than that", async () => {
    const [a, b] = [await start(), await start()];
    await leasedAt(b.hub, "w");
    b.stop();
    const begun = performance.now();
    expect(await publish(a, "k")).toMatchObject({ acknowledged: 0, expired: 1 });
    const ms = performance.now() - begun;
    expect(ms).toBeGreaterThan(OVER_MS * 0.8);
    expect(ms).toBeLessThan(OVER_MS * 1.21 + 1_000);
  });

  each("one that was taken for dead gives no lease before its watchers have what they missed", async () => {
    const [a, b] = [await start(), await start()];
    const watcher = await leasedAt(b.hub, "w");
    const since = b.hub.seq;
    b.stop();
    await publish(a, "k");
    watcher.renew(since);
    // It cannot say yet that others wait for it.
    await sleep(20);
    expect(b.order.held()).toBe(false);
    b.goOn();
    // Its stream ends without a lease, for it may have missed events.
    for (let said = await watcher.next(); said !== undefined; said = await watcher.next())
      expect(said).toEqual(event("k"));
    await expect.poll(() => b.order.held()).toBe(true);
    const again = speak(b.hub, "w", since);
    expect(await again.next()).toMatchObject({ case: "welcome", value: { reset: false } });
    expect(await again.next()).toEqual(event("k"));
    again.renew(b.hub.seq);
    expect((await again.next())?.case).toBe("lease");
    listen(again);
    expect(await publish(a, "l")).toMatchObject({ acknowledged: 1, expired: 0 });
  });

  each("an event of one that was taken for dead reaches everybody all the same", async () => {
    const [a, b] = [await start(), await start()];
    const heard = listen(await leasedAt(a.hub, "w"));
    b.stop();
    const late = publish(b, "late");
    await publish(a, "k");
    b.goOn();
    expect(await late).toMatchObject({ acknowledged: 1 });
    expect(heard).toEqual(["k", "late"]);
  });

  each("an event gets another number where its own was given and forgotten while its process slept", async () => {
    const logged = 3;
    const [a, b] = [await start(logged), await start(logged)];
    const heard = listen(await leasedAt(a.hub, "w"));
    b.stop();
    const late = publish(b, "late");
    for (let i = 0; i < 8; i++) await publish(a, `e${i}`);
    await a.order.tend();
    expect(await opened.store.collection("auth_events").countDocuments({})).toBe(logged);
    b.goOn();
    const { seq } = await late;
    expect(seq).toBe(a.hub.seq);
    expect(heard.at(-1)).toBe("late");
    expect(heard.filter((id) => id === "late")).toHaveLength(1);
  });

  each("one whose beat takes longer than it counts finds out with the next that it has its place", async () => {
    const store = await openAuthStore(opened.store);
    const update = store.processes.updateOne.bind(store.processes);
    let slow = 0;
    store.processes.updateOne = async (...args) => {
      if (slow-- > 0) await sleep(LEASE_MS / 2);
      return update(...args);
    };
    const order = await openSharedOrder({ store, leaseMs: LEASE_MS, logged: 100, log: silentLog });
    slow = Number.POSITIVE_INFINITY;
    await expect.poll(() => order.held()).toBe(false);
    slow = 1;
    expect(await order.confirm()).toBe(true);
    // If the store stays slow, nobody waits for ever.
    slow = Number.POSITIVE_INFINITY;
    await expect.poll(() => order.held()).toBe(false);
    expect(await order.confirm()).toBe(false);
    slow = 0;
    await order.close();
  });

  each("who knows of older events than are kept has to drop what it keeps", async () => {
    const a = await start(3);
    const since = a.hub.seq;
    for (let i = 0; i < 5; i++) await publish(a, `e${i}`);
    await a.order.tend();
    const b = await start(3);
    expect(await speak(b.hub, "w", since).next()).toMatchObject({ case: "welcome", value: { reset: true } });
    expect(b.hub.seq).toBe(a.hub.seq);
  });
});

/** Records whose reads and writes wait while they are stopped. */
function stoppable(store: AuthStore): { readonly store: AuthStore; stop(): void; goOn(): void } {
  let gate = Promise.resolve();
  let open = (): void => undefined;
  const waiting = <T extends object>(collection: T): T =>
    new Proxy(collection, {
      get(target, member) {
        const value = Reflect.get(target, member) as unknown;
        if (typeof value !== "function") return value;
        if (member === "find")
          return (...args: unknown[]) => ({ toArray: () => gate.then(() => value.apply(target, args).toArray()) });
        return (...args: unknown[]) => gate.then(() => value.apply(target, args));
      },
    });
  return {
    store: Object.fromEntries(Object.entries(store).map(([name, collection]) => [name, waiting(collection)])) as never,
    stop() {
      gate = new Promise((resolve) => {
        open = resolve;
      });
    },
    goOn: () => open(),
  };
}
