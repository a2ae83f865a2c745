import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SandboxUser } from "../../../../services/sandbox/cti/account.js";
import { SANDBOX_USERS } from "../../../../services/sandbox/cti/seed/users.js";
import { sight } from "../../../services/platform-proxy/platforms/cti/asking.js";
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

/** Lines of the recording that the built-in platform answers in another way, and why. */
const DIFFERENT: Readonly<Record<number, string>> = {
  83: "a task was read, and the recording does not say of what kind an object is that a case made",
  128: "the first page is of what other cases made",
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

interface Variables extends Readonly<Record<string, unknown>> {
  readonly input?: { readonly relationship_type?: string };
}

const variablesOf = ({ body }: Exchange): Variables => (body as { variables?: Variables }).variables ?? {};

/** The exchange with an id of its own for each object that the recording calls "another", by the argument that holds it. */
function toldApart(exchange: Exchange): { readonly exchange: Exchange; readonly held: ReadonlyMap<string, string> } {
  const held = new Map<string, string>();
  const apart = (value: unknown, argument: string): unknown => {
    if (value === ANOTHER) {
      const id = stable(`another ${exchange.line} ${held.size}`);
      held.set(id, argument);
      return id;
    }
    if (Array.isArray(value)) return value.map((one) => apart(one, argument));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, apart(one, key)]));
  };
  const body = { ...(exchange.body as object), variables: apart(variablesOf(exchange), "") };
  return { exchange: { ...exchange, body }, held };
}

/** What stands at which end of a relationship of a type. */
const ENDS: Readonly<Record<string, readonly [from: string, to: string]>> = {
  indicates: ["Indicator", "Malware"],
  "based-on": ["Indicator", "Domain-Name"],
};

/** The kind of what an operation is about. */
function kindFor(operation: string, argument: string, { input }: Variables): string {
  const type = input?.relationship_type ?? "";
  if (argument === "fromId") return ENDS[type]?.[0] ?? "Intrusion-Set";
  if (argument === "toId" && operation === "CreateSighting") return "System";
  if (argument === "toId" && operation === "CreateRelationship") return ENDS[type]?.[1] ?? "Malware";
  if (argument === "marking") return "Marking";
  if (/^toIds?$/.test(argument) && type !== "object") return type === "external-reference" ? "Reference" : "Label";
  if (argument !== "id") return /CreateTask/.test(operation) ? "Case-Incident" : "Malware";
  const kinds: readonly (readonly [RegExp, string])[] = [
    [/Promote|Observable|IndicatorsOf|Holding|Pointing/, "Domain-Name"],
    [/Indicator/, "Indicator"],
    [/Sighting/, "Sighting"],
    [/Relationship$|Subject/, "Relationship"],
    [/Note$/, "Note"],
    [/Report$/, "Report"],
    [/Objects|RemoveObject|Contents|Container/, "Grouping"],
  ];
  return kinds.find(([pattern]) => pattern.test(operation))?.[1] ?? "Malware";
}

let made = 0;

/** Makes an object of a kind; its id. */
async function make(kind: string): Promise<string> {
  const name = `Stands for another ${++made}`;
  const common = { name, confidence: 0 };
  const { ids } = world;
  switch (kind) {
    case "Marking":
      return ids["TLP:GREEN"]!;
    case "Label":
      return ids.label!;
    case "Reference":
      return ids.reference!;
    case "Domain-Name":
      return world.observe("Domain-Name", { value: `another-${made}.example` });
    case "Indicator":
      return world.make("Indicator", { ...common, pattern: `[mutex:name = '${name}']`, pattern_type: "stix" });
    case "Note":
      return world.make("Note", { content: name, confidence: 0, objects: [ids.malware0] });
    case "Report":
      return world.make("Report", { ...common, published: "2026-03-03T00:00:00.000Z" });
    case "Grouping":
      return world.make("Grouping", { ...common, context: "suspicious-activity" });
    case "Relationship":
      return world.relate(ids.set1!, "uses", await make("Malware"), { confidence: 0 });
    case "Sighting":
      return sight(harness, await make("Malware"), ids.Sector0!);
    case "Malware":
      return world.make("Malware", { ...common, objectLabel: [ids.label] });
    default:
      return world.make(kind, common);
  }
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
  const replay = new Replay({ url: harness.sandbox.url, standIn: (id) => byId.get(id) ?? id, authorize });
  const found: string[] = [];
  for (const recorded of exchanges) {
    const name = operationOf(recorded);
    const { exchange, held } = toldApart(recorded);
    for (const [id, argument] of held) replay.ids.set(id, await make(kindFor(name, argument, variablesOf(recorded))));
    const { differences } = await replay.run(exchange);
    if (differences.length > 0 && DIFFERENT[recorded.line] === undefined)
      found.push(`${recorded.line} ${name} as ${recorded.as}: ${differences.join(", ")}`);
  }
  expect(found).toEqual([]);
});
