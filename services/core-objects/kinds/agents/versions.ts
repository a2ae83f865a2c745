import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AgentVersionSchema } from "#proto/core/v1/agent_service_pb.js";
import type { Caller } from "../../../shared/rpc/call.js";
import { failedPrecondition, notFound } from "../../../shared/rpc/errors.js";
import { isSame } from "../../../shared/same.js";
import type { Writer } from "../../objects/writer.js";
import { sizeOf } from "../../room.js";
import type { AgentRecord, AgentVersionRecord } from "./record.js";
import { REFERENCES, type Resources } from "./resources.js";
import { NOTHING, type Template } from "./template.js";

// Versions of an agent: what its runs work with, each time it became another. They are kept in the agent's record, so
// that an agent and its versions change in one write.

/** Versions that are kept besides the latest, and their bytes together: instructions may be long. */
const VERSIONS = 20;
const MOST_BYTES = 256 * 1024;

const FIELDS = Object.keys(NOTHING) as (keyof Template)[];

/** What an agent's runs work with. */
export function contentOf(agent: Template): Template {
  const content = { ...NOTHING };
  for (const field of FIELDS) content[field] = (agent[field] ?? NOTHING[field]) as never;
  return content;
}

/** The number of an agent's version. */
export function numberOf({ version }: Pick<AgentRecord, "version">): number {
  return version ?? 1;
}

/** What a new agent begins with. */
export function firstVersion({ userId }: Writer) {
  return { version: 1, versioned_at: new Date(), author: userId, history: [] };
}

/** The next version with the ones before; nothing if runs work with the same as before. */
export function versionAfter(current: AgentRecord, after: Template, { userId }: Writer): Partial<AgentRecord> {
  if (FIELDS.every((field) => isSame(after[field] ?? NOTHING[field], current[field] ?? NOTHING[field]))) return {};
  const history = [{ ...contentOf(current), ...madeBy(current) }, ...(current.history ?? [])].slice(0, VERSIONS);
  while (history.length > 1 && sizeOf(history) > MOST_BYTES) history.pop();
  return { version: numberOf(current) + 1, versioned_at: new Date(), author: userId, history };
}

/** An agent as it was; as it is without a number. @throws ConnectError not_found that says which versions there are. */
export function versionOf(agent: AgentRecord, number: number | undefined): AgentRecord {
  if (number === undefined || number === numberOf(agent)) return agent;
  const found = agent.history?.find(({ version }) => version === number);
  if (found !== undefined) return { ...agent, ...found };
  throw notFound(
    `this agent has no version ${number}: it has ${[...versionsOf(agent)].map(({ version }) => version).join(", ")}`,
  );
}

/**
 * What an agent goes back to. What it then uses again has to be there still.
 *
 * @param without ids that are left out.
 * @throws ConnectError failed_precondition that names what is gone.
 */
export async function restored(
  current: AgentRecord,
  number: number | undefined,
  without: readonly string[],
  writer: Writer,
): Promise<AgentRecord> {
  if (number === undefined) return current;
  const found = versionOf(current, number);
  const { fallback_integration: fallback = "" } = found;
  const before = without.includes(fallback) ? { ...found, fallback_integration: "" } : found;
  const fields = Object.keys(REFERENCES) as (keyof Resources)[];
  const again = fields.flatMap((field) =>
    before[field]
      .filter((id) => !current[field].includes(id) && !without.includes(id))
      .map((id) => ({ id, noun: REFERENCES[field] })),
  );
  const isAgain = before.fallback_integration === fallback && fallback !== (current.fallback_integration ?? "");
  if (isAgain && fallback !== "") again.push({ id: fallback, noun: "integration" });
  const seen = new Set([...(await writer.seen(again.map(({ id }) => id))).values()].flat());
  const gone = again.filter(({ id }) => !seen.has(id));
  if (gone.length > 0)
    throw failedPrecondition(
      `version ${number} uses what is gone or not shared with you: ${gone.map(({ id, noun }) => `${noun} ${id}`).join(", ")}. Nothing was changed; to go back without it, give its id in remove_resource_ids`,
    );
  return before;
}

/** The versions of an agent as its answer lists them, the newest first. */
export function shownVersions(agent: AgentRecord, { id, name }: Caller): MessageInitShape<typeof AgentVersionSchema>[] {
  return versionsOf(agent).map(({ version, versioned_at, author }) => ({
    version,
    createdAt: timestampFromDate(versioned_at),
    ...(author !== "" && { author: { id: author, ...(author === id && { name }) } }),
  }));
}

function versionsOf(agent: AgentRecord): Pick<AgentVersionRecord, "version" | "versioned_at" | "author">[] {
  return [madeBy(agent), ...(agent.history ?? [])];
}

/** When and by whom the present version was made; of an older agent only since when it is as it is. */
function madeBy({ version, versioned_at, author = "", updated_at }: AgentRecord) {
  return { version: numberOf({ ...(version && { version }) }), versioned_at: versioned_at ?? updated_at, author };
}
