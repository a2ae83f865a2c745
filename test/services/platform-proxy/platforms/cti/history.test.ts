import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { make, markingId, relate, sight } from "./asking.js";

let harness: CtiHarness;
let red: string;
beforeAll(async () => {
  harness = await startCti({ settings: { historyDelayMs: 0 } });
  red = await markingId(harness, "TLP:RED");
});
afterAll(() => harness.close());

const history = async (objectId: string, as = "analyst") =>
  (await harness.call(InsightService.method.listEntityChanges, { objectId }, as)).entries;

/** Hides an object from all but the administrator. */
const hide = (id: string) =>
  harness.ask(
    "admin",
    'mutation($id: ID!, $to: StixRef!) { stixCoreObjectEdit(id: $id) { relationAdd(input: { toId: $to, relationship_type: "object-marking" }) { id } } }',
    { id, to: red },
  );

/** The sentences of the platform itself, to the same person. */
async function platformSays(id: string): Promise<string[]> {
  const filters = {
    mode: "and",
    filterGroups: [],
    filters: [{ key: ["context_data.id"], values: [id], operator: "eq", mode: "or" }],
  };
  const { logs } = await harness.ask<{ logs: { edges: { node: { context_data: { message: string } } }[] } }>(
    "analyst",
    "query($filters: FilterGroup) { logs(first: 9, filters: $filters) { edges { node { context_data { message } } } } }",
    { filters },
  );
  return logs.edges.map(({ node }) => node.context_data.message);
}

test("the sentence about a relationship is told until one of its ends is hidden, which the platform does not heed", async () => {
  const from = await make(harness, "Intrusion-Set", { name: "Set with a history" });
  const to = await make(harness, "Malware", { name: "Malware hidden later" });
  const id = await relate(harness, from, "uses", to);
  expect((await history(id))[0]?.message).toContain("Malware hidden later");
  await hide(to);
  expect(await platformSays(id)).toEqual([expect.stringContaining("Malware hidden later")]);
  expect(await history(id)).toMatchObject([{ act: "create", message: "" }]);
  expect((await history(id, "admin"))[0]?.message).toContain("Malware hidden later");
});

test("a relationship whose end was hidden from the beginning has no entry for others", async () => {
  const from = await make(harness, "Intrusion-Set", { name: "Set of a hidden malware" });
  const to = await make(harness, "Malware", { name: "Malware hidden before", objectMarking: [red] });
  const id = await relate(harness, from, "uses", to);
  expect([await platformSays(id), await history(id)]).toEqual([[], []]);
});

test("of a sighting, whose ends the platform does not say, no sentence is told", async () => {
  const from = await make(harness, "Malware", { name: "Malware that is seen" });
  const to = await make(harness, "Sector", { name: "Sector that sees" });
  const id = await sight(harness, from, to);
  expect(await platformSays(id)).toEqual([expect.stringContaining("Malware that is seen")]);
  expect(await history(id)).toMatchObject([{ act: "create", message: "" }]);
});

test("an object that was hidden later has no history for who does not see it, and a deleted one has", async () => {
  const id = await make(harness, "Malware", { name: "Malware with a past" });
  expect(await history(id)).toHaveLength(1);
  await hide(id);
  expect(await platformSays(id)).toEqual([expect.stringContaining("Malware with a past")]);
  const refused = await refusal(history(id));
  expect([refused.code, refused.rawMessage]).toEqual([Code.NotFound, expect.not.stringContaining("past")]);
  expect((await history(id, "admin"))[0]?.act).toBe("update");

  const gone = await make(harness, "Malware", { name: "Malware to be deleted" });
  await harness.ask("admin", "mutation($id: ID!) { stixCoreObjectEdit(id: $id) { delete } }", { id: gone });
  expect((await history(gone)).map(({ act }) => act)).toEqual(["delete", "create"]);
});
