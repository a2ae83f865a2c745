import type { DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Action, accessOf, type Ownership } from "../../../services/core-objects/policy.js";
import type { ObjectRecord } from "../../../services/core-objects/record.js";
import { loadKinds } from "../../../services/core-objects/service.js";
import { EVERY_KIND, type KindUnderTest } from "./every-kind.js";
import { promised } from "./promise.js";
import { as, type Rig, startRig } from "./rig.js";

// Objects of every kind with any owner, origin and grants, and what each of four
// people is answered by each method: held to the promise in words.

const PEOPLE = [
  { id: "alice", groups: ["soc"], admin: false },
  { id: "bob", groups: ["soc"], admin: false },
  { id: "carl", groups: [], admin: false },
  { id: "root", groups: [], admin: true },
] as const;
type Person = (typeof PEOPLE)[number];

const OBJECTS = 40;

const ownership = fc
  .record({
    origin: fc.constantFrom("builtin" as const, "company" as const, "user" as const, "user" as const),
    owner: fc.constantFrom("", "alice", "bob"),
    acl: fc.array(
      fc.record({
        p: fc.constantFrom("all", "u:alice", "u:bob", "u:carl", "u:root", "g:soc"),
        t: fc.constantFrom<1 | 2 | 3>(1, 2, 3),
      }),
      { maxLength: 3 },
    ),
  })
  .map((one): Ownership => (one.origin === "user" ? one : { ...one, owner: "", acl: [] }));

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const pascal = (noun: string): string =>
  noun.replace(/(^| )(\w)(\w*)/g, (_, __, a, b) => a.toUpperCase() + b.toLowerCase());
const method = ({ service }: KindUnderTest, name: string) =>
  service.methods.find((one) => one.name === name) as DescMethodUnary;
const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

async function outcome(kind: KindUnderTest, name: string, request: object, who: Person): Promise<string> {
  const call = rig.dispatch.unary(method(kind, name), request as never, as(who.id));
  return call.then(
    () => "ok",
    (error: unknown) => Code[ConnectError.from(error).code] as string,
  );
}

/** What a person is answered who does this to the object. */
function expected(who: Person, action: Action, object: Ownership): string {
  if (promised(who, action, object)) return "ok";
  return promised(who, "read", object) ? "PermissionDenied" : "NotFound";
}

async function stored(kind: KindUnderTest): Promise<readonly ObjectRecord[]> {
  const { name, service, noun } = { ...kind, name: `Create${pascal(kind.noun)}` };
  const needs = Object.fromEntries(Object.entries(kind.needs).map(([field, value]) => [camel(field), value]));
  const request = { name: kind.nameOf("template"), description: "d", ...needs };
  const create = service.methods.find((one) => one.name === name) as DescMethodUnary;
  await rig.dispatch.unary(create, request as never, as("alice"));
  const collection = rig.store.collection<ObjectRecord>(kind.plural);
  const [template] = await collection.find({ access: "3:u:alice" }).toArray();
  const objects = fc.sample(ownership, { numRuns: OBJECTS, seed: noun.length }).map((owned, n) => {
    const _id = `any-${String(n).padStart(3, "0")}`;
    return { ...template!, ...owned, access: accessOf(owned), _id, request: _id };
  });
  await collection.insertMany(objects);
  return objects;
}

test("every kind is asked", async () => {
  expect((await loadKinds()).map(({ noun }) => noun).sort()).toEqual(EVERY_KIND.map(({ noun }) => noun).sort());
});

describe.each(EVERY_KIND.map((kind) => [kind.noun, kind] as const))("%ss", (noun, kind) => {
  let objects: readonly ObjectRecord[];
  beforeAll(async () => {
    objects = await stored(kind);
  });

  test("are listed to whom the promise says, each once, on pages", async () => {
    for (const who of PEOPLE) {
      const seen: string[] = [];
      let pageToken = "";
      do {
        const list = method(kind, `List${pascal(noun)}s`);
        const answer = await rig.dispatch.unary(list, { pageSize: 17, pageToken } as never, as(who.id));
        const page = answer as unknown as Record<string, { id: string }[]> & { nextPageToken?: string };
        seen.push(...page[camel(kind.plural)]!.map(({ id }) => id));
        pageToken = page.nextPageToken ?? "";
      } while (pageToken !== "");
      const mine = objects.filter((one) => promised(who, "read", one)).map(({ _id }) => _id);
      expect(seen.filter((id) => id.startsWith("any-")).sort()).toEqual(mine);
    }
  });

  test("are read, changed, shared and deleted by whom the promise says", async () => {
    const { read } = kind;
    const id = camel(`${noun.toLowerCase().replaceAll(" ", "_")}_id`);
    const wrong: string[] = [];
    for (const [n, object] of objects.entries()) {
      const who = PEOPLE[n % PEOPLE.length]!;
      const share = [{ to: "user:carl", tier: 1 }];
      const asked: readonly (readonly [Action, string, object])[] = [
        ["read", pascal(read.tool.replaceAll("_", " ")).replaceAll(" ", ""), { [camel(read.argument)]: object._id }],
        ["modify", `Update${pascal(noun)}`, { [id]: object._id, description: `${n}` }],
        ...(object.origin === "user"
          ? ([["share", `Update${pascal(noun)}`, { [id]: object._id, share }]] as const)
          : []),
      ];
      for (const [action, name, request] of asked) {
        const [is, should] = [await outcome(kind, name, request, who), expected(who, action, object)];
        if (is !== should)
          wrong.push(`${who.id} ${name} ${action} ${JSON.stringify(object.acl)}: ${is}, not ${should}`);
      }
      // Shared since, perhaps: whoever deletes is another than carl.
      const other = PEOPLE[(n + 1) % PEOPLE.length]!;
      const now = (await rig.store.collection<ObjectRecord>(kind.plural).findOne({ _id: object._id }))!;
      const [is, should] = [
        await outcome(kind, `Delete${pascal(noun)}`, { [id]: object._id }, other),
        expected(other, "delete", now),
      ];
      if (is !== should) wrong.push(`${other.id} deletes ${JSON.stringify(now.acl)}: ${is}, not ${should}`);
    }
    expect(wrong).toEqual([]);
  });
});
