import { afterAll, beforeAll, expect, test } from "vitest";
import type { SandboxUser } from "../../../../services/sandbox/cti/account.js";
import { SANDBOX_USERS } from "../../../../services/sandbox/cti/seed/users.js";
import { type CtiHarness, startCti } from "../../../support/platforms/cti.js";
import { type Exchange, readRecording } from "../../../support/platforms/recording.js";
import { Replay } from "../../../support/platforms/replay.js";
import { StandIns } from "./stand-ins.js";

const WRITE = ["KNOWLEDGE", "KNOWLEDGE_KNUPDATE"];
const DELETE = ["KNOWLEDGE_KNUPDATE_KNDELETE", "KNOWLEDGE_KNUPDATE_KNMERGE"];

/** The users of the recording, with the rights that they had there. */
const RECORDED: readonly SandboxUser[] = [
  {
    email: "analyst@recorded.example",
    name: "analyst",
    capabilities: [...WRITE, ...DELETE, "SETTINGS_SETLABELS"],
    clearance: ["TLP:AMBER+STRICT", "PAP:GREEN"],
    maxConfidence: 80,
  },
  {
    email: "writer@recorded.example",
    name: "writer",
    capabilities: [...WRITE, "KNOWLEDGE_KNPARTICIPATE"],
    clearance: ["TLP:AMBER"],
    maxConfidence: 50,
  },
  {
    email: "reader@recorded.example",
    name: "reader",
    capabilities: ["KNOWLEDGE"],
    clearance: ["TLP:GREEN"],
    maxConfidence: 50,
  },
  { email: "nobody@recorded.example", name: "nobody", capabilities: [], clearance: [], maxConfidence: 50 },
  {
    email: "admin@recorded.example",
    name: "admin",
    capabilities: ["BYPASS"],
    clearance: ["TLP:RED", "PAP:RED"],
    maxConfidence: 100,
  },
];

/** Exchanges that the sandbox answers in another way, and why. */
const DIFFERENT: Readonly<Record<string, string>> = {
  "trap: trash": "the sandbox has no trash",
  "trap: trash as reader": "the sandbox has no trash",
  "trap: trash as writer": "the sandbox has no trash",
  "trap: restored": "the sandbox has no trash",
  "trap: its trash entry": "the sandbox has no trash",
  "trap: restored at once": "the sandbox has no trash",
  "trap: restored 6 s later": "the sandbox has no trash",
  "trap: edit without reference": "the rule was switched on for these only; writing-entities.test.ts has it on",
  "trap: edit with a message only": "the rule was switched on for these only",
  "trap: create without reference": "the rule was switched on for these only",
  "trap: label without reference": "the rule was switched on for these only",
  "trap: container bulk add with one unknown object": "the recorded report had been raised above the user's confidence",
};

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti({ users: [...SANDBOX_USERS, ...RECORDED] });
  // Two objects that the recording meets by name: one seen by all, one hidden.
  const { markingDefinitions } = await harness.ask<{
    markingDefinitions: { edges: { node: { id: string; definition: string } }[] };
  }>("admin", "{ markingDefinitions { edges { node { id definition } } } }");
  const red = markingDefinitions.edges.find(({ node }) => node.definition === "TLP:RED")!.node.id;
  const make = "mutation($i: MalwareAddInput!) { malwareAdd(input: $i) { id } }";
  await harness.ask("admin", make, { i: { name: "Malware 1" } });
  await harness.ask("admin", make, { i: { name: "Malware 4", objectMarking: [red] } });
});
afterAll(() => harness.close());

/** Tokens live longer than a replay takes. */
const tokens = new Map<string, Promise<string>>();

async function authorize({ as }: Exchange): Promise<string | undefined> {
  if (as === "anonymous") return undefined;
  const token = tokens.get(as) ?? harness.issuer.sign({ email: `${as}@recorded.example` });
  tokens.set(as, token);
  return `Bearer ${await token}`;
}

test("the sandbox answers every recorded exchange as the real platform did, but for those named", async () => {
  const { header, exchanges } = readRecording("cti");
  const standIns = new StandIns(harness, header.ids ?? {}, (id) => replay.ids.get(id));
  const replay = new Replay({ url: harness.sandbox.url, standIn: (id) => standIns.of(id), authorize });
  const found: string[] = [];
  let same = 0;
  for (const exchange of exchanges) {
    const { differences } = await replay.run(exchange);
    if (differences.length === 0) same += 1;
    else if (DIFFERENT[exchange.name] === undefined)
      found.push(`${exchange.line} ${exchange.name} as ${exchange.as}: ${differences.join(", ")}`);
  }
  expect(found).toEqual([]);
  expect(exchanges.length).toBe(895);
  expect(same).toBe(895 - Object.keys(DIFFERENT).length);
});
