import type { JsonObject } from "@bufbuild/protobuf";
import type { Said } from "../frame/product.js";
import { type Caller, firstIdIn, type Shown } from "./caller.js";
import { FAULTS, type Finding } from "./edges.js";

// Simultaneous calls that create one and the same object: the answers must say which of them did.

/** Enough for two of them to come in one millisecond. */
const AT_ONCE = 12;

/** Whether a tool creates an object. */
export const creates = ({ name }: Shown): boolean => /^(create|upload)_|^set_variable$/.test(name);

/** An answer that says itself that the object was there before. */
const saysItWasThere = ({ result }: Said): boolean =>
  result?.created === false || result?.existed === true || result?.already_attached === true;

/** Calls a tool several times at once with the same arguments, a new name among them. */
export async function tryRace(caller: Caller, shown: Shown): Promise<{ calls: number; findings: Finding[] }> {
  const args = { ...(await caller.make(caller.asTool(shown))), ...named(shown) };
  const said = await Promise.all(Array.from({ length: AT_ONCE }, () => caller.person.ask(shown.name, args)));
  const findings: Finding[] = [];
  const add = (what: string): void => void findings.push({ tool: shown.name, args, what });
  const creators = said.filter((one) => one.result !== undefined && !saysItWasThere(one));
  const ids = creators.map(({ result }) => firstIdIn(result));
  const refusals = [...new Set(said.filter(({ result }) => result === undefined).map(({ refusal }) => refusal))];
  if (new Set(ids).size !== ids.length)
    add(`${ids.length} answers say that they created ${[...new Set(ids)].join(", ")}`);
  for (const refusal of refusals) if (FAULTS.test(refusal)) add(refusal.slice(0, 300));
  if (creators.length === 0) add(`nobody created it: ${refusals.join(" | ").slice(0, 300)}`);
  return { calls: AT_ONCE, findings };
}

/** A name that nothing has yet, for what a tool calls by name. */
function named({ inputSchema: { properties = {} } }: Shown): JsonObject {
  const name = ["name", "title", "hostname", "external_id", "value", "file_name"].find((one) => one in properties);
  return name === undefined ? {} : { [name]: `race-${Date.now()}${name === "file_name" ? ".txt" : ""}` };
}
