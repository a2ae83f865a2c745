import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SandboxUser } from "../../../../services/sandbox/cti/account.js";
import { SANDBOX_USERS } from "../../../../services/sandbox/cti/seed/users.js";
import { type CtiHarness, startCti } from "../../../support/platforms/cti.js";
import { type Exchange, readRecording } from "../../../support/platforms/recording.js";
import { Replay } from "../../../support/platforms/replay.js";
import { makeKnowledge, type World } from "../../../truth/cti/world.js";

// What the truth tests recorded: the product's own operations, as the real
// platform answered them, on the world that those tests make.

const person = (
  name: string,
  capabilities: readonly string[],
  clearance: readonly string[],
  maxConfidence: number,
): SandboxUser => ({
  email: `${name}@recorded.example`,
  name,
  capabilities,
  clearance,
  maxConfidence,
});

/** The people of test/truth/cti/world.ts, with their rights. */
const PEOPLE = [
  person("administrator", ["BYPASS"], ["TLP:RED", "PAP:RED"], 100),
  person(
    "analyst",
    ["KNOWLEDGE", "KNOWLEDGE_KNPARTICIPATE", "KNOWLEDGE_KNUPDATE_KNDELETE", "EXPLORE", "SETTINGS_SETLABELS"],
    ["TLP:AMBER", "PAP:CLEAR"],
    80,
  ),
  person("writer", ["KNOWLEDGE_KNUPDATE"], ["TLP:GREEN"], 50),
  person("reader", ["KNOWLEDGE"], ["TLP:GREEN"], 50),
  person("granted", ["KNOWLEDGE"], [], 0),
  person("nobody", [], [], 0),
];

const RUN = "run";
/** What the recorder calls an object that a single case made. */
const ANOTHER = stable("another");

/** Exchanges that the built-in platform answers in another way, and why. */
const DIFFERENT: Readonly<Record<string, string>> = {
  AddMarking: "the recording calls the object and its marking by one id",
};

let harness: CtiHarness;
let world: World;
beforeAll(async () => {
  harness = await startCti({ users: [...SANDBOX_USERS, ...PEOPLE] });
  const platform = {
    need: (_: string, query: string, variables: object = {}) => harness.ask<never>("admin", query, { ...variables }),
  };
  world = await makeKnowledge(platform, RUN);
});
afterAll(() => harness.close());

/** As frame/recorder.ts makes the ids of what has a name there. */
function stable(key: string): string {
  const hex = createHash("sha256").update(key).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const operationOf = ({ body }: Exchange): string =>
  /\w+\s+(\w+)/.exec((body as { query?: string }).query ?? "")?.[1] ?? "";

let made = 0;

/** An object of the kind that an operation changes. */
function anotherFor(exchange: Exchange): Promise<string> {
  const operation = operationOf(exchange);
  const name = `Stands for another ${++made}`;
  if (/Promote|IndicatorsOf/.test(operation)) return world.observe("Domain-Name", { value: `another-${made}.example` });
  if (/Objects|RemoveObject|Contents/.test(operation))
    return world.make("Grouping", { name, context: "suspicious-activity" });
  return world.make("Malware", { name, confidence: 0, objectLabel: [world.ids.label] });
}

test("the built-in platform answers what the tools ask as the real one did", async () => {
  const { exchanges } = readRecording("cti-truth");
  const byId = new Map(Object.entries(world.ids).map(([key, id]) => [stable(key), id]));
  const tokens = new Map<string, Promise<string>>();
  const authorize = async ({ as }: Exchange) => {
    if (as === "stranger") return `Bearer ${await harness.issuer.sign({ email: "stranger@recorded.example" })}`;
    const token = tokens.get(as) ?? harness.issuer.sign({ email: `${as}@recorded.example` });
    tokens.set(as, token);
    return `Bearer ${await token}`;
  };
  const standIn = (id: string, exchange: Exchange) => byId.get(id) ?? (id === ANOTHER ? anotherFor(exchange) : id);
  const replay = new Replay({ url: harness.sandbox.url, standIn, authorize });
  const found: string[] = [];
  for (const exchange of exchanges) {
    replay.ids.delete(ANOTHER);
    const { differences } = await replay.run(exchange);
    const name = operationOf(exchange);
    if (differences.length > 0 && DIFFERENT[name] === undefined)
      found.push(`${exchange.line} ${name} as ${exchange.as}: ${differences.join(", ")}`);
  }
  expect(found).toEqual([]);
}, 60_000);
