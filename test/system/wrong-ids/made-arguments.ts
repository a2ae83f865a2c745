import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { JsonSchema } from "../../../services/shared/tools/schema.js";
import type { Tool } from "../../../services/shared/tools/tools.js";

// Arguments that a tool takes, made of its schema: what is required, with ids
// that exist, and one argument set to what a test wants there.

/** An id that exists and that one of these tools returns; undefined if there is none. */
export type RealId = (server: string, sources: readonly string[]) => Promise<string | undefined>;

/** What the maker takes from its surroundings. */
export interface MakerParts {
  readonly tools: readonly Tool[];
  readonly realId: RealId;
  /** A tenant of the caller, on servers that have them. */
  readonly tenants: Readonly<Record<string, string>>;
}

/** A well-formed id that nothing has. */
export const UNKNOWN_ID = "0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f";

/** Stands for ids that exist, where a table says that an argument is needed. */
export const REAL = "(ids that exist)";

/** What tools need beyond what their schemas require, so that they look at the ids. What is named for one argument replaces that of the tool. */
const ALSO: Readonly<Record<string, JsonObject>> = {
  add_external_reference: { url: "https://example.com/report" },
  add_markings: { markings: ["TLP:GREEN"] },
  attach_evidence: { control_id: REAL },
  create_custom_tool: { name: "wrong_ids", url: "https://example.com/" },
  create_grouping: { context: "malware-analysis" },
  create_observable: { type: "IPv4-Addr", value: "203.0.113.99" },
  create_opinion: { opinion: "agree" },
  create_payload: { executor: "sh", command: "id" },
  "create_payload.document_id": { type: "file_drop" },
  create_relationship: { relationship_type: "related-to" },
  create_sighting: { to_id: REAL },
  "delete_relationship.from_id": { to_id: REAL, relationship_type: "uses" },
  "delete_relationship.to_id": { from_id: REAL, relationship_type: "uses" },
  "inspect_coverage.endpoint_id": { kind: "attack_pattern" },
  "inspect_coverage.kill_chain_phase_id": { kind: "attack_pattern" },
  inspect_simulation_comparison: { other_simulation_id: UNKNOWN_ID.replace("0", "1") },
  "inspect_simulation_comparison.other_simulation_id": { simulation_id: UNKNOWN_ID.replace("0", "1") },
  remove_markings: { markings: ["TLP:GREEN"] },
  set_asset_group_assets: { endpoint_ids: REAL },
  set_lessons_teams: { team_ids: REAL },
  set_requirement_controls: { control_ids: REAL },
  set_requirement_evidence: { evidence_ids: REAL },
  set_scenario_teams: { team_ids: REAL },
  set_simulation_teams: { team_ids: REAL },
  update_run: { cancel: true },
  upload_evidence_file: { file_name: "wrong-ids.txt", content_base64: "aGk=" },
};

/** Plain arguments by which a tool that changes an object has something to change. */
const CHANGES = ["description", "name", "observation", "value", "explanation", "content"];

/** The arguments of a call in which the argument at `path` has a value. */
export type MakeArguments = (tool: Tool, path?: readonly string[], value?: string) => Promise<JsonObject>;

/** Builds {@link MakeArguments}. */
export function createMakeArguments({ tools, realId, tenants }: MakerParts): MakeArguments {
  function sourcesIn(tool: Tool, description = ""): string[] {
    const named = tools.filter(
      ({ server, name }) => server === tool.server && new RegExp(`\\b${name}\\b`).test(description),
    );
    return named.map(({ name }) => name);
  }

  async function madeObjectOf(tool: Tool, schema: JsonSchema, path: readonly string[], value: string | undefined) {
    const made: JsonObject = {};
    for (const [name, inner] of Object.entries(schema.properties ?? {})) {
      if (name === path[0]) made[name] = await madeOf(tool, name, inner, path.slice(1), value);
      else if (schema.required?.includes(name)) made[name] = await madeOf(tool, name, inner, [], undefined);
    }
    return made;
  }

  async function madeOf(
    tool: Tool,
    name: string,
    schema: JsonSchema,
    path: readonly string[],
    value: string | undefined,
  ): Promise<JsonValue> {
    if (schema.type === "array")
      return [await madeOf(tool, name, { description: schema.description ?? "", ...schema.items }, path, value)];
    if (schema.type === "object") return madeObjectOf(tool, schema, path, value);
    if (value !== undefined) return value;
    const id = await realId(tool.server, sourcesIn(tool, schema.description));
    return id !== undefined && /(^|_)ids?$/.test(name) ? id : plainOf(name, schema);
  }

  return async (tool, path = [], value) => {
    const schema = tool.listing.inputSchema;
    const properties = schema.properties ?? {};
    const made = await madeObjectOf(tool, schema, path, value);
    const excluded = properties[path[0] ?? ""]?.description ?? "";
    const add = async (name: string, given?: JsonValue): Promise<void> => {
      const inner = properties[name];
      if (inner === undefined || name === path[0] || new RegExp(`together with.*\\b${name}\\b`).test(excluded)) return;
      made[name] = given ?? (await madeOf(tool, name, inner, [], undefined));
    };
    const also = ALSO[`${tool.name}.${path[0]}`] ?? ALSO[tool.name] ?? {};
    for (const [name, given] of Object.entries(also))
      await add(name, given === REAL ? undefined : (given as JsonValue));
    const tenant = tenants[tool.server];
    if (tenant !== undefined && tool.name !== "list_tenants") await add("tenant_id", tenant);
    for (const [name, { description = "" }] of Object.entries(properties)) {
      const others = /Give exactly one of this and ([\w, ]+)\./.exec(description)?.[1]?.split(", ");
      if (others !== undefined && ![name, ...others].some((one) => one in made)) await add(name);
    }
    const change = CHANGES.find((one) => properties[one]?.type === "string");
    if (/^(update|set)_/.test(tool.name) && change !== undefined && made[change] === undefined) await add(change);
    return made;
  };
}

function plainOf(name: string, { type, enum: words, format, minimum, minLength }: JsonSchema): JsonValue {
  if (Array.isArray(words)) return words[0] as string;
  if (type === "boolean") return false;
  if (type === "integer" || type === "number") return typeof minimum === "number" ? minimum : 1;
  if (format === "uuid") return UNKNOWN_ID;
  if (format === "date-time") return "2026-01-01T00:00:00Z";
  if (format === "uri" || name === "url") return "https://example.com/";
  if (/(^|_)types?$/.test(name)) return "Malware";
  return "sample".padEnd(typeof minLength === "number" ? minLength : 0, "x");
}
