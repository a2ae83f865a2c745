import type { DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serveTool } from "../../../facade/catalogue/served-tool.js";
import { type Action, accessOf, type Ownership } from "../../../services/core-objects/policy.js";
import type { ObjectRecord } from "../../../services/core-objects/record.js";
import { loadKinds } from "../../../services/core-objects/service.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
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
/** Calls of one slow tool that are answered; what is refused is never slow, and is asked of every object. */
const SLOW_ANSWERS = 5;

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

const TOOLS = new Map(
  readTools(readImage()).flatMap((tool) => (tool.server === "core" ? [[tool.name, serveTool(tool)] as const] : [])),
);

/** Calls a tool as a person; its answer as tools give it, or the code of its refusal. */
async function call(
  name: string,
  args: object,
  who: Person,
): Promise<{ code: string; answer: Record<string, unknown> }> {
  const { tool, decode, encode } = TOOLS.get(name)!;
  try {
    const message = await rig.dispatch.unary(tool.method as DescMethodUnary, decode(args as never), as(who.id));
    return { code: "ok", answer: JSON.parse(`{${encode(message)}}`).structuredContent };
  } catch (error) {
    return { code: Code[ConnectError.from(error).code] as string, answer: {} };
  }
}

/** What a person is answered who does this to the object. */
function expected(who: Person, action: Action, object: Ownership): string {
  if (promised(who, action, object)) return "ok";
  return promised(who, "read", object) ? "PermissionDenied" : "NotFound";
}

async function stored({ noun, plural, snake, nameOf, needs }: KindUnderTest): Promise<readonly ObjectRecord[]> {
  const made = await call(`create_${snake}`, { name: nameOf("template"), description: "d", ...needs }, PEOPLE[0]);
  expect(made.code).toBe("ok");
  const collection = rig.store.collection<ObjectRecord>(plural);
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

describe.each(EVERY_KIND.map((kind) => [kind.noun, kind] as const))("%ss", (_noun, kind) => {
  const { snake, plural, reads } = kind;
  let objects: readonly ObjectRecord[];
  beforeAll(async () => {
    objects = await stored(kind);
  });

  test("are listed to whom the promise says, each once, on pages", async () => {
    for (const who of PEOPLE) {
      const seen: string[] = [];
      let page_token: unknown = "";
      do {
        const { answer } = await call(`list_${plural}`, { page_size: 17, page_token }, who);
        seen.push(...(answer[plural] as { id: string }[]).map(({ id }) => id));
        page_token = answer.next_page_token;
      } while (page_token !== undefined);
      const mine = objects.filter((one) => promised(who, "read", one)).map(({ _id }) => _id);
      expect(seen.filter((id) => id.startsWith("any-")).sort()).toEqual(mine);
    }
  });

  test("are read, changed, shared and deleted by whom the promise says", async () => {
    const wrong: string[] = [];
    const check = async (who: Person, action: Action, tool: string, args: object, object: Ownership): Promise<void> => {
      const [{ code }, should] = [await call(tool, args, who), expected(who, action, object)];
      if (code !== should) wrong.push(`${who.id} ${tool} ${JSON.stringify(object)}: ${code}, not ${should}`);
    };
    let slow = 0;
    for (const [n, object] of objects.entries()) {
      const [who, other] = [PEOPLE[n % PEOPLE.length]!, PEOPLE[(n + 1) % PEOPLE.length]!];
      const about = { [`${snake}_id`]: object._id };
      for (const { tool, args, isSlow } of reads) {
        if (isSlow && promised(who, "read", object) && ++slow > SLOW_ANSWERS) continue;
        await check(who, "read", tool, args(object._id), object);
      }
      await check(who, "modify", `update_${snake}`, { ...about, description: `${n}` }, object);
      const share = [{ to: "user:carl", tier: "view" }];
      if (object.origin === "user") await check(who, "share", `update_${snake}`, { ...about, share }, object);
      const { origin, owner, acl } = (await rig.store.collection<ObjectRecord>(plural).findOne({ _id: object._id }))!;
      await check(other, "delete", `delete_${snake}`, about, { origin, owner, acl });
    }
    expect(wrong).toEqual([]);
  });
});
