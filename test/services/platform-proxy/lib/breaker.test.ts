import { beforeEach, expect, test } from "vitest";
import { Breaker } from "../../../../services/platform-proxy/lib/breaker.js";

let now: number;
let breaker: Breaker;

beforeEach(() => {
  now = 0;
  breaker = new Breaker({ silentMs: 10, tryAgainMs: 100 }, () => now);
});

/** Exchanges that are lost, one after the other. */
function lose(count: number): void {
  for (let i = 0; i < count; i++) breaker.lost(breaker.enter());
}

test("five in a row, without an answer between, leave an address alone", () => {
  lose(4);
  breaker.heard();
  lose(4);
  expect(breaker.enter()).toBe("go");
  lose(1);
  expect(breaker.enter()).toBe("wait");
});

test("one exchange tries the address again, and what becomes of it decides", () => {
  lose(5);
  now = 99;
  expect(breaker.enter()).toBe("wait");
  now = 100;
  expect([breaker.enter(), breaker.enter()]).toEqual(["probe", "wait"]);
  breaker.lost("probe");
  now = 199;
  expect(breaker.enter()).toBe("wait");
  now = 200;
  expect(breaker.enter()).toBe("probe");
  breaker.heard();
  expect([breaker.enter(), breaker.enter()]).toEqual(["go", "go"]);
});

test("a probe whose caller leaves leaves the question open for the next", () => {
  lose(5);
  now = 100;
  breaker.ended(breaker.enter());
  expect([breaker.enter(), breaker.enter()]).toEqual(["probe", "wait"]);
});

test("time that runs out counts where nothing at all came for so long", () => {
  for (let i = 0; i < 5; i++) {
    const since = now;
    const entry = breaker.enter();
    now += 10;
    expect(breaker.ranOut(entry, since)).toBe("silent");
  }
  expect(breaker.enter()).toBe("wait");
});

test("callers with little time open nothing, nor does a platform that answers others", () => {
  for (let i = 0; i < 50; i++) {
    const since = now;
    now += 9;
    expect(breaker.ranOut(breaker.enter(), since)).toBe("silent");
  }
  for (let i = 0; i < 50; i++) {
    const since = now;
    now += 500;
    breaker.heard();
    now += 500;
    expect(breaker.ranOut(breaker.enter(), since)).toBe("slow");
  }
  expect(breaker.enter()).toBe("go");
});
