import fc from "fast-check";
import { Query } from "mingo";
import { expect, test } from "vitest";
import {
  type Action,
  accessOf,
  filterOf,
  may,
  NEEDED,
  type Ownership,
  tierOf,
} from "../../../services/core-objects/policy.js";
import type { Caller } from "../../../services/shared/rpc/call.js";
import { promised } from "./promise.js";

const USERS = ["a", "b", "c"] as const;
const GROUPS = ["g1", "g2"] as const;
const ACTIONS = Object.keys(NEEDED) as Action[];
/** Of the property; the objects are others in each run. */
const DECISIONS = Number(process.env.DECISIONS ?? 300_000);

const tier = fc.constantFrom<1 | 2 | 3>(1, 2, 3);
const principal = fc.constantFrom("all", ...USERS.map((u) => `u:${u}`), ...GROUPS.map((g) => `g:${g}`));
const ownership = fc.record({
  origin: fc.constantFrom("builtin" as const, "company" as const, "user" as const),
  owner: fc.constantFrom("", ...USERS),
  acl: fc.array(fc.record({ p: principal, t: tier }), { maxLength: 5 }),
});

function callerOf({ id, admin, groups }: { id: string; admin: boolean; groups: readonly string[] }): Caller {
  return { id, email: "", name: id, admin, groups, scopes: new Set(), keyId: "", service: false };
}

/** Everybody there can be here, in everything they can do, with the filter over what is stored. */
const ASKED = ["", ...USERS].flatMap((id) =>
  [true, false].flatMap((admin) =>
    [[], ["g1"], ["g2"], [...GROUPS]].flatMap((groups) =>
      ACTIONS.map((action) => {
        const who = callerOf({ id, admin, groups });
        return { who, action, filter: new Query(filterOf(who, action) as never) };
      }),
    ),
  ),
);

test(`the gate, the filter over stored objects and the promise in words decide ${DECISIONS} times alike`, () => {
  let allowed = 0;
  let refused = 0;
  fc.assert(
    fc.property(ownership, (object) => {
      const stored = { _id: "x", ...object, access: accessOf(object) };
      for (const { who, action, filter } of ASKED) {
        const expected = promised(who, action, object);
        expected ? allowed++ : refused++;
        const decided = [may(who, action, object), filter.test(stored), tierOf(who, object) >= NEEDED[action]];
        if (decided.some((one) => one !== expected))
          throw new Error(`${JSON.stringify({ who, action })} should be ${expected}, and is ${decided}`);
      }
    }),
    { numRuns: Math.ceil(DECISIONS / ASKED.length) },
  );
  expect(allowed + refused).toBeGreaterThanOrEqual(DECISIONS);
  expect(Math.min(allowed, refused)).toBeGreaterThan(DECISIONS / 10);
});

test("a grant to one user and a tier of another's grant never add up", () => {
  const object: Ownership = {
    origin: "user",
    owner: "a",
    acl: [
      { p: "u:b", t: 1 },
      { p: "u:c", t: 3 },
    ],
  };
  const b = callerOf({ id: "b", admin: false, groups: [] });
  expect(tierOf(b, object)).toBe(1);
  expect(may(b, "modify", object)).toBe(false);
});

test("a user whose id is named like a group or a role gains nothing by it", () => {
  const company: Ownership = { origin: "company", owner: "", acl: [] };
  for (const id of ["admins", "all", "g:soc", "3:admins"]) {
    const who = callerOf({ id, admin: false, groups: ["admins"] });
    expect(may(who, "modify", company)).toBe(false);
  }
});

test("an administrator does not read a user's private object", () => {
  const admin = callerOf({ id: "root", admin: true, groups: [] });
  expect(tierOf(admin, { origin: "user", owner: "a", acl: [] })).toBe(0);
});
