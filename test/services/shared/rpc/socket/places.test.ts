import { Code } from "@connectrpc/connect";
import { beforeEach, describe, expect, test } from "vitest";
import type { Caller } from "../../../../../services/shared/rpc/call.js";
import { INTERNAL, Places } from "../../../../../services/shared/rpc/socket/places.js";

const LIMITS = { calls: 3, bytes: 100, publicCalls: 2, totalBytes: 150 };
const ADDRESS = "192.0.2.1";

let places: Places;
beforeEach(() => {
  places = new Places(LIMITS);
});

function caller(id: string, keyId: string, scopes: readonly string[] = []): Caller {
  return { id, keyId, email: "", name: id, admin: false, groups: [], scopes: new Set(scopes), service: false };
}
const ana = caller("ana", "key-of-ana");
const ben = caller("ben", "key-of-ben");
const nobody = caller("", "");
const refused = expect.objectContaining({ code: Code.ResourceExhausted });
const enter = (who: Caller, address = ADDRESS) => places.enter(who, address);

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

  test("a place that is given back is there for the next, and given back twice is once", () => {
    const taken = Array.from({ length: LIMITS.calls }, () => enter(ana));
    taken[0]?.leave();
    taken[0]?.leave();
    enter(ana);
    expect(() => enter(ana)).toThrow(refused);
  });

  test("a refused call takes nothing", () => {
    const taken = Array.from({ length: LIMITS.calls }, () => enter(ana));
    for (let i = 0; i < 10; i++) expect(() => enter(ana)).toThrow(refused);
    for (const place of taken) place.leave();
    for (let i = 0; i < LIMITS.calls; i++) enter(ana);
    expect(() => enter(ana)).toThrow(refused);
  });
});

describe("bytes", () => {
  test("a caller has so many in all calls together", () => {
    const [one, other] = [enter(ana), enter(ana)];
    one.take(60);
    other.take(40);
    expect(() => other.take(1)).toThrow(refused);
    one.handOn();
    other.take(60);
    expect(() => one.take(1)).toThrow(refused);
  });

  test("all callers together have so many, whoever they are", () => {
    const own = caller("service", "key-of-service", [INTERNAL]);
    enter(ana).take(100);
    enter(ben).take(50);
    expect(() => enter(nobody).take(1)).toThrow(refused);
    expect(() => enter(own).take(1)).toThrow(refused);
  });

  test("what is refused is not counted", () => {
    const place = enter(ana);
    expect(() => place.take(101)).toThrow(refused);
    place.take(100);
  });

  test("bytes come back when the message is handed on, and when the call ends without that", () => {
    const place = enter(ana);
    place.take(100);
    place.handOn();
    place.handOn();
    place.take(100);
    place.leave();
    enter(ben).take(100);
    enter(ana).take(50);
    expect(() => enter(nobody).take(1)).toThrow(refused);
  });

  test("a call that has ended takes none", () => {
    const place = enter(ana);
    place.leave();
    place.take(1_000);
    enter(ana).take(100);
  });
});
