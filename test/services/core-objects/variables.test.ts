import type { MessageInitShape } from "@bufbuild/protobuf";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import {
  type CreateVariableRequestSchema,
  type UpdateVariableRequestSchema,
  VariableService,
} from "#proto/core/v1/variable_service_pb.js";
import type { VariableRecord } from "../../../services/core-objects/kinds/variables/record.js";
import { createCoreObjectsService } from "../../../services/core-objects/service.js";
import { createSeal, newSealKey, parseSealKeys } from "../../../services/shared/secrets/seal.js";
import { refusal } from "./refusal.js";
import { as, type Rig, SEAL, startRig } from "./rig.js";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const { listVariables, getVariable, createVariable, updateVariable } = VariableService.method;
const SECRET = "hunter2-and-more-hunter2";

const create = async (who: string, request: MessageInitShape<typeof CreateVariableRequestSchema>) =>
  (await rig.dispatch.unary(createVariable, request, as(who))).variable!;
const update = async (who: string, request: MessageInitShape<typeof UpdateVariableRequestSchema>) =>
  (await rig.dispatch.unary(updateVariable, request, as(who))).variable!;
const read = async (who: string, variableId: string) =>
  (await rig.dispatch.unary(getVariable, { variableId }, as(who))).variable!;
const records = () => rig.store.collection<VariableRecord>("variables");
const stored = async (id: string) => (await records().findOne({ _id: id }))!;
const opened = async (id: string) => SEAL.open((await stored(id)).sealed, `variables/${id}/sealed`);

test("a value that is not secret is read by whom it is shared with, and left out of lists", async () => {
  const { id, value } = await create("alice", {
    name: "REGION",
    value: "eu-west-1",
    sharing: [{ to: "user:bob", tier: Tier.VIEW }],
  });
  expect(value).toBe("eu-west-1");
  expect(await read("bob", id)).toMatchObject({ value: "eu-west-1", secret: false, yourAccess: Tier.VIEW });
  const { variables } = await rig.dispatch.unary(listVariables, { query: "REGION" }, as("bob"));
  expect(variables).toMatchObject([{ id, name: "REGION", secret: false }]);
  expect(variables[0]?.value).toBeUndefined();
});

test("a secret value is shown to nobody, in no answer, and sealed in the store", async () => {
  const sharing = [{ to: "user:bob", tier: Tier.MANAGE }];
  const made = await create("alice", { name: "TOKEN", value: SECRET, secret: true, sharing, requestId: "once" });
  const again = await create("alice", { name: "TOKEN", value: SECRET, secret: true, sharing, requestId: "once" });
  const answers = [
    made,
    again,
    await read("alice", made.id),
    await read("bob", made.id),
    await update("bob", { variableId: made.id, description: "d" }),
    await rig.dispatch.unary(listVariables, {}, as("alice")),
    await stored(made.id),
  ];
  const said = JSON.stringify(answers, (_, value) => (typeof value === "bigint" ? String(value) : value));
  expect(said).not.toContain(SECRET);
  expect(again.id).toBe(made.id);
  expect(made).toMatchObject({ secret: true, endsWith: "ter2" });
  expect(made.value).toBeUndefined();
  expect(await opened(made.id)).toBe(SECRET);
});

test("of a short secret nothing is shown", async () => {
  const { endsWith } = await create("alice", { name: "PIN", value: "12345678901", secret: true });
  expect(endsWith).toBeUndefined();
});

test("a secret is replaced by who may change it, and becomes no plain value without a new one", async () => {
  const { id } = await create("alice", {
    name: "SHARED",
    value: SECRET,
    secret: true,
    sharing: [{ to: "user:bob", tier: Tier.CONFIG }],
  });
  expect(await refusal(update("bob", { variableId: id, secret: false }))).toEqual([
    "InvalidArgument",
    "a secret value is never shown: to make the variable non-secret, give a new value",
  ]);
  const before = (await stored(id)).sealed;
  await update("bob", { variableId: id, description: "d" });
  expect((await stored(id)).sealed).toBe(before);
  expect(await update("bob", { variableId: id, value: "replaced-by-bob" })).toMatchObject({ endsWith: "-bob" });
  expect(await opened(id)).toBe("replaced-by-bob");
  expect(await update("bob", { variableId: id, secret: false, value: "plain" })).toMatchObject({ value: "plain" });
  expect(await stored(id)).toMatchObject({ sealed: "", sealed_with: "", ends_with: "" });
  expect((await update("alice", { variableId: id, secret: true })).value).toBeUndefined();
  expect(await opened(id)).toBe("plain");
  expect((await stored(id)).value).toBe("");
});

test("a sealed value that is moved to another variable does not open there", async () => {
  const [one, other] = [
    await create("alice", { name: "ONE", value: SECRET, secret: true }),
    await create("alice", { name: "OTHER", value: "other-value-of-other", secret: true }),
  ];
  const { sealed } = await stored(one.id);
  expect(() => SEAL.open(sealed, `variables/${other.id}/sealed`)).toThrow(/changed after/);
});

test("what breaks a rule is refused without the value", async () => {
  const long = SECRET.repeat(1_000);
  const [code, said] = await refusal(create("alice", { name: "LONG", value: long, secret: true }));
  expect([code, said.includes(SECRET)]).toEqual(["InvalidArgument", false]);
  expect((await refusal(create("alice", { name: "1ST", value: SECRET, secret: true })))[1]).not.toContain(SECRET);
});

test("what an older key sealed is sealed with the newest at start, and what does not open is said and left", async () => {
  const { id } = await create("alice", { name: "OLD", value: SECRET, secret: true });
  const { id: broken } = await create("alice", { name: "BROKEN", value: SECRET, secret: true });
  const { id: plain } = await create("alice", { name: "PLAIN", value: "v" });
  await records().updateOne({ _id: broken }, { $set: { sealed: `${(await stored(broken)).sealed}x` } });
  const [oldKey, newKey] = [newSealKey(), newSealKey()];
  const [older] = parseSealKeys(oldKey);
  // As if all had been sealed with the older key.
  const old = createSeal([older!]);
  for await (const record of records().find({ sealed_with: SEAL.key })) {
    if (record._id === broken) continue;
    const place = `variables/${record._id}/sealed`;
    const sealed = old.seal(SEAL.open(record.sealed, place), place);
    await records().updateOne({ _id: record._id }, { $set: { sealed, sealed_with: old.key } });
  }
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line) => void lines.push(line) });
  const rotated = createSeal(parseSealKeys(`${newKey},${oldKey}`));
  const start = () => createCoreObjectsService({ store: rig.store, peers: rig.peers, log, seal: rotated });
  await (await start()).close();
  const only = createSeal(parseSealKeys(newKey));
  expect(only.open((await stored(id)).sealed, `variables/${id}/sealed`)).toBe(SECRET);
  expect(await stored(id)).toMatchObject({ sealed_with: only.key });
  expect(await stored(plain)).toMatchObject({ sealed_with: "", value: "v" });
  expect(await stored(broken)).toMatchObject({ sealed_with: SEAL.key });
  expect(lines.join("")).toContain(`variables/${broken}/sealed`);
  expect(lines.join("")).not.toContain(SECRET);
  lines.length = 0;
  await (await start()).close();
  expect(lines.join("")).not.toContain("sealed with the newest key");
});
