import { beforeEach, expect, test } from "vitest";
import { Bucket } from "../../../../services/shared/limits/bucket.js";
import { Share } from "../../../../services/shared/limits/share.js";
import { Turns } from "../../../../services/shared/limits/turns.js";

const RATE = { perSecond: 1, burst: 1 };
const shareOf = (): Share => new Share(new Bucket(RATE, 0), new Bucket(RATE, 0));
const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

let now: number;
let turns: Turns;
let begun: string[];

beforeEach(() => {
  now = 0;
  turns = new Turns(() => now);
  begun = [];
});

/** Sends a call, which takes so many milliseconds of the loop once it has begun. */
function send(name: string, share: Share, ms = 0): void {
  const begin = (): void => {
    begun.push(name);
    now += ms;
  };
  if (turns.admits(share)) begin();
  else turns.wait(share, begin);
}

test("a key that is alone begins at once what a turn can bear, and the rest as the loop goes on", async () => {
  const one = shareOf();
  for (let i = 0; i < 100; i++) send("one", one, 10);
  expect(begun).toHaveLength(32);
  await turnOfTheLoop();
  // What comes now is behind what waits.
  send("late", one, 10);
  expect(begun).not.toContain("late");
  while (one.waiting.length > 0) await turnOfTheLoop();
  expect(begun.at(-1)).toBe("late");
});

test("a key that is alone and sends one after the other never waits", async () => {
  const one = shareOf();
  for (let i = 0; i < 200; i++) {
    send("one", one, 10);
    if (i % 20 === 19) {
      await turnOfTheLoop();
      await turnOfTheLoop();
    }
  }
  expect(begun).toHaveLength(200);
});

test("of a key that floods, one call is in front of another's", async () => {
  const [flood, other] = [shareOf(), shareOf()];
  send("other", other, 1);
  for (let i = 0; i < 64; i++) send("flood", flood, 1);
  expect(begun).toEqual(["other", "flood"]);
  while (begun.length < 20) {
    await turnOfTheLoop();
    const before = begun.length;
    send("other", other, 1);
    expect(begun.slice(before)).toEqual(["other"]);
  }
  // A turn that the other's call has made long is the flood's too.
  expect(begun.filter((name) => name === "flood").length).toBeGreaterThan(5);
  while (flood.waiting.length > 0) await turnOfTheLoop();
});

test("keys that wait are served round and round", async () => {
  const shares = ["a", "b", "c"].map((name) => ({ name, share: shareOf() }));
  for (let i = 0; i < 3; i++) for (const { share } of shares) send("meets", share, 1);
  while (begun.length < 9) await turnOfTheLoop();
  begun = [];
  for (const { name, share } of shares) for (let i = 0; i < 10; i++) send(name, share, 1);
  while (begun.length < 30) await turnOfTheLoop();
  for (const { name } of shares) {
    const share = begun.slice(0, 15).filter((one) => one === name).length;
    expect([4, 5, 6]).toContain(share);
  }
});

test("what costs the loop little is begun several a turn", async () => {
  const [flood, other] = [shareOf(), shareOf()];
  send("other", other);
  for (let i = 0; i < 64; i++) send("flood", flood);
  await turnOfTheLoop();
  await turnOfTheLoop();
  expect(begun.length).toBeGreaterThan(5);
  while (flood.waiting.length > 0) await turnOfTheLoop();
});

test("a key has more under way while the loop has time, and one while it has none", async () => {
  const [flood, other] = [shareOf(), shareOf()];
  send("other", other);
  const begin = (): void => {
    flood.active++;
  };
  for (let i = 0; i < 64; i++) {
    if (turns.admits(flood)) begin();
    else turns.wait(flood, begin);
  }
  expect(flood.active).toBe(1);
  for (let i = 0; i < 10; i++) {
    now += 1;
    await turnOfTheLoop();
  }
  expect(flood.active).toBe(1);
  while (flood.active < 64) await turnOfTheLoop();
});

test("a call that ends lets the next one of its key begin, however busy the loop is", async () => {
  const [flood, other] = [shareOf(), shareOf()];
  send("other", other);
  for (let i = 0; i < 10; i++) send("flood", flood, 5);
  while (begun.length < 11) await turnOfTheLoop();
  expect(flood.waiting).toEqual([]);
});

test("a key of which a call hangs is served beside one that keeps the loop busy", async () => {
  const [flood, other] = [shareOf(), shareOf()];
  other.active = 1;
  send("flood", flood, 1);
  send("other", other, 1);
  for (let i = 0; i < 500; i++) send("flood", flood, 1);
  while (!begun.includes("other")) {
    await turnOfTheLoop();
    if (flood.waiting.length === 0) break;
  }
  expect(begun.slice(0, 100)).toContain("other");
});

test("where keys come by turns and the loop is busy, who had a call leaves two turns to the others", async () => {
  const [flood, other] = [shareOf(), shareOf()];
  let count = 0;
  const begin = (): void => {
    count++;
    flood.active++;
    now += 1;
  };
  /** What others do of a turn takes a millisecond. */
  const busyTurn = async (): Promise<void> => {
    now += 1;
    await turnOfTheLoop();
  };
  expect([turns.admits(other), turns.admits(flood)]).toEqual([true, true]);
  for (let i = 0; i < 3; i++) turns.wait(flood, begin);
  await busyTurn();
  expect(count).toBe(1);
  await busyTurn();
  flood.active--;
  await busyTurn();
  await busyTurn();
  expect(count).toBe(1);
  await busyTurn();
  expect(count).toBe(2);
});

test("what has left its queue is not begun, and its key waits no more often than others", async () => {
  const [one, other] = [shareOf(), shareOf()];
  for (const share of [one, other]) send("meets", share);
  const calls = ["a", "b", "c"].map((name) => () => void begun.push(name));
  for (const call of calls) turns.wait(one, call);
  for (const call of calls) turns.leave(one, call);
  // It has left already.
  turns.leave(one, calls[0]!);
  expect(one.waiting).toEqual([]);
  const served: string[] = [];
  for (const [name, share] of [
    ["one", one],
    ["other", other],
  ] as const) {
    for (let i = 0; i < 5; i++) turns.wait(share, () => void served.push(name));
  }
  while (served.length < 10) await turnOfTheLoop();
  expect(served).toEqual(Array.from({ length: 5 }, () => ["one", "other"]).flat());
});
