import { expect, test } from "vitest";
import { createInvalidations } from "../../../../services/shared/credentials/invalidations.js";

test("what was attested before an event is stale, and a revoked key stays revoked", () => {
  const invalidations = createInvalidations();
  invalidations.changeUser("ana", 5);
  invalidations.revokeKey("k", 6);
  expect(invalidations.validityOf({ keyId: "", userId: "ana", seq: 4 })).toBe("stale");
  expect(invalidations.validityOf({ keyId: "", userId: "ana", seq: 5 })).toBe("valid");
  expect(invalidations.validityOf({ keyId: "", userId: "bob", seq: 0 })).toBe("valid");
  expect(invalidations.validityOf({ keyId: "k", userId: "ana", seq: 99 })).toBe("revoked");
  invalidations.reset(9);
  expect(invalidations.validityOf({ keyId: "", userId: "bob", seq: 8 })).toBe("stale");
});

test("marks are forgotten once nothing attested before them can be alive", () => {
  let now = 0;
  const invalidations = createInvalidations(() => now);
  invalidations.revokeKey("old", 1);
  now = 9 * 60_000;
  invalidations.revokeKey("young", 2);
  now = 11 * 60_000;
  invalidations.revokeKey("new", 3);
  const of = (keyId: string) => invalidations.validityOf({ keyId, userId: "", seq: 9 });
  expect([of("old"), of("young"), of("new")]).toEqual(["valid", "revoked", "revoked"]);
});
