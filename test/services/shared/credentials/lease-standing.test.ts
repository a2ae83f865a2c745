import { expect, test } from "vitest";
import { createStandings } from "../../../../services/shared/credentials/lease-standing.js";

test("what was vouched for before an event is old, and a dead key stays dead", () => {
  const standings = createStandings();
  standings.touchUser("ana", 5);
  standings.killKey("k", 6);
  expect(standings.of({ keyId: "", userId: "ana", seq: 4 })).toBe("old");
  expect(standings.of({ keyId: "", userId: "ana", seq: 5 })).toBe("good");
  expect(standings.of({ keyId: "", userId: "bob", seq: 0 })).toBe("good");
  expect(standings.of({ keyId: "k", userId: "ana", seq: 99 })).toBe("dead");
  standings.floor(9);
  expect(standings.of({ keyId: "", userId: "bob", seq: 8 })).toBe("old");
});

test("marks are forgotten once nothing vouched for before them can be alive", () => {
  let now = 0;
  const standings = createStandings(() => now);
  standings.killKey("old", 1);
  now = 9 * 60_000;
  standings.killKey("young", 2);
  now = 11 * 60_000;
  standings.killKey("new", 3);
  const of = (keyId: string) => standings.of({ keyId, userId: "", seq: 9 });
  expect([of("old"), of("young"), of("new")]).toEqual(["good", "dead", "dead"]);
});
