import { Code } from "@connectrpc/connect";
import { beforeEach, describe, expect, test } from "vitest";
import type { Caller } from "../../../../../services/shared/rpc/call.js";
import { CallSlots, INTERNAL } from "../../../../../services/shared/rpc/socket/slots.js";

const LIMITS = { calls: 3, bytes: 100, publicCalls: 2, totalBytes: 150 };
const ADDRESS = "192.0.2.1";

let slots: CallSlots;
beforeEach(() => {
  slots = new CallSlots(LIMITS);
});

function caller(id: string, keyId: string, scopes: readonly string[] = []): Caller {
  return { id, keyId, email: "", name: id, admin: false, groups: [], scopes: new Set(scopes), service: false };
}
const ana = caller("ana", "key-of-ana");
const ben = caller("ben", "key-of-ben");
const nobody = caller("", "");
const refused = expect.objectContaining({ code: Code.ResourceExhausted });
const enter = (who: Caller, address = ADDRESS) => slots.take(who, address);

describe("calls", () => {
  test("a key has so many under way, whatever addresses they come from", () => {
    for (let i = 0; i < LIMITS.calls; i++) enter(ana, `192.0.2.${i}`);
    expect(() => enter(ana, "192.0.2.99")).toThrow(refused);
    expect(() => enter(ana)).toThrow("you already have 3 calls in progress");
  });

  test("another key of the same user has its own, and so has a user without one", () => {
    for (let i = 0; i < LIMITS.calls; i++) enter(ana);
    enter(caller("ana", "another-key"));
    enter(caller("ana", ""));
    enter(ben);
  });

  test("nobody is counted by address", () => {
    for (let i = 0; i < LIMITS.publicCalls; i++) enter(nobody);
    expect(() => enter(nobody)).toThrow(refused);
    enter(nobody, "192.0.2.2");
    enter(ana);
  });

  test("a user whose id looks like another's key has a share of their own", () => {
    for (let i = 0; i < LIMITS.calls; i++) enter(caller("x", "same"));
    enter(caller("same", ""));
  });

  test("our own processes have no share to keep to", () => {
    const own = caller("service", "key-of-service", [INTERNAL]);
    for (let i = 0; i < 10 * LIMITS.calls; i++) enter(own);
  });

  test("a slot that is given back is there for the next, and given back twice is once", () => {
    const taken = Array.from({ length: LIMITS.calls }, () => enter(ana));
    taken[0]?.free();
    taken[0]?.free();
    enter(ana);
    expect(() => enter(ana)).toThrow(refused);
  });

  test("a refused call takes nothing", () => {
    const taken = Array.from({ length: LIMITS.calls }, () => enter(ana));
    for (let i = 0; i < 10; i++) expect(() => enter(ana)).toThrow(refused);
    for (const slot of taken) slot.free();
    for (let i = 0; i < LIMITS.calls; i++) enter(ana);
    expect(() => enter(ana)).toThrow(refused);
  });
});

describe("bytes", () => {
  test("a caller has so many in all calls together", () => {
    const [one, other] = [enter(ana), enter(ana)];
    one.grow(60);
    other.grow(40);
    expect(() => other.grow(1)).toThrow(refused);
    one.handOn();
    other.grow(60);
    expect(() => one.grow(1)).toThrow(refused);
  });

  test("all callers together have so many, whoever they are", () => {
    const own = caller("service", "key-of-service", [INTERNAL]);
    enter(ana).grow(100);
    enter(ben).grow(50);
    expect(() => enter(nobody).grow(1)).toThrow(refused);
    expect(() => enter(own).grow(1)).toThrow(refused);
  });

  test("what is refused is not counted", () => {
    const slot = enter(ana);
    expect(() => slot.grow(101)).toThrow(refused);
    slot.grow(100);
  });

  test("bytes come back when the message is handed on, and when the call ends without that", () => {
    const slot = enter(ana);
    slot.grow(100);
    slot.handOn();
    slot.handOn();
    slot.grow(100);
    slot.free();
    enter(ben).grow(100);
    enter(ana).grow(50);
    expect(() => enter(nobody).grow(1)).toThrow(refused);
  });

  test("a call that has ended takes none", () => {
    const slot = enter(ana);
    slot.free();
    slot.grow(1_000);
    enter(ana).grow(100);
  });
});
