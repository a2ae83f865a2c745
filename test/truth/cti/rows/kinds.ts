import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Node } from "../platform.js";
import type { Stage } from "../stage.js";
import type { World } from "../world.js";
import { phaseOf } from "../world-kinds.js";
import { newest, ofType, summary, truthOf } from "./lists.js";

const time = (value: unknown) => (value ? Date.parse(String(value)) : undefined);
// The platform writes these where a period has no beginning or no end.
const BOUNDS = ["1970-01-01T00:00:00.000Z", "5138-11-16T09:46:40.000Z"];
const told = (value: unknown) => (BOUNDS.includes(String(value)) ? undefined : time(value));

interface Kind {
  readonly tool: string;
  readonly rows: string;
  /** As the platform stores what the list is of. */
  readonly types: readonly string[];
  /** Made while the list is read. */
  readonly made?: string;
  readonly own?: (row: Row, node: Node) => void;
  readonly more?: readonly { readonly args: object; readonly types: readonly string[] }[];
}

const aliases = (row: Row, node: Node) =>
  expect(row.aliases ?? []).toEqual(node.aliases ?? node.x_opencti_aliases ?? []);
const seen = (row: Row, node: Node) => {
  expect(time(row.first_seen)).toBe(told(node.first_seen));
  expect(time(row.last_seen)).toBe(told(node.last_seen));
};

const IDENTITIES = ["Individual", "Organization", "Sector", "System", "SecurityPlatform"];
const LOCATIONS = ["Administrative-Area", "City", "Country", "Position", "Region"];

const KINDS: readonly Kind[] = [
  {
    tool: "list_intrusion_sets",
    rows: "intrusion_sets",
    types: ["Intrusion-Set"],
    own(row, node) {
      aliases(row, node);
      seen(row, node);
      expect(row.primary_motivation ?? null).toBe(node.primary_motivation);
    },
  },
  { tool: "list_campaigns", rows: "campaigns", types: ["Campaign"], own: seen },
  {
    tool: "list_malware",
    rows: "malware",
    types: ["Malware"],
    own(row, node) {
      aliases(row, node);
      expect(row.malware_types ?? []).toEqual(node.malware_types ?? []);
      expect(row.is_family ?? false).toBe(node.is_family ?? false);
    },
  },
  { tool: "list_tools", rows: "tools", types: ["Tool"] },
  {
    tool: "list_attack_patterns",
    rows: "attack_patterns",
    types: ["Attack-Pattern"],
    own(row, node) {
      expect(row.kill_chain_phases ?? []).toEqual(
        (node.killChainPhases ?? []).map(({ phase_name }: { phase_name: string }) => phase_name),
      );
      expect(row.platforms ?? []).toEqual(node.x_mitre_platforms ?? []);
    },
  },
  {
    tool: "list_incidents",
    rows: "incidents",
    types: ["Incident"],
    own(row, node) {
      expect([row.incident_type ?? null, row.severity ?? null]).toEqual([node.incident_type, node.severity]);
    },
  },
  {
    tool: "list_identities",
    rows: "identities",
    types: IDENTITIES,
    made: "Sector",
    more: [{ args: { types: ["Sector", "Organization"] }, types: ["Sector", "Organization"] }],
  },
  {
    tool: "list_locations",
    rows: "locations",
    types: LOCATIONS,
    made: "Country",
    more: [{ args: { types: ["City"] }, types: ["City"] }],
  },
  { tool: "list_infrastructures", rows: "infrastructures", types: ["Infrastructure"] },
  { tool: "list_courses_of_action", rows: "courses_of_action", types: ["Course-Of-Action"] },
];

const ofPhase = {
  args: ({ run }: World) => ({ kill_chain_phase: phaseOf(run) }),
  holds: (node: Node, { run }: World) =>
    (node.killChainPhases ?? []).some(({ phase_name }: { phase_name: string }) => phase_name === phaseOf(run)),
};

// The platform does not begin a word at a colon.
const findable = (types: readonly string[]) => (node: Node, world: World) =>
  ofType(...types)(node, world) && node.id !== world.ids.colons;

/** Tools that list one kind of objects. */
export const kindTruths: readonly Truth<Stage>[] = KINDS.map(({ tool, rows, types, made, own, more = [] }) =>
  truthOf({
    tool,
    rows,
    questions: [
      { args: ({ run }) => ({ query: run }), holds: findable(types) },
      { args: ({ run }) => ({ query: run, order: "newest" }), holds: findable(types), order: newest },
      ...more.map((one) => ({ args: ({ run }: World) => ({ query: run, ...one.args }), holds: findable(one.types) })),
      ...(tool === "list_attack_patterns" ? [ofPhase] : []),
    ],
    row(row, node) {
      summary(row, node);
      own?.(row, node);
    },
    another: (world, i) =>
      world.make(made ?? types[0]!, { name: `${made ?? types[0]} more ${i} ${Date.now()} ${world.run}` }),
  }),
);
