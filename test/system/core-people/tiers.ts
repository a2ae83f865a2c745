import { idArgumentsOf } from "./arguments.js";
import type { Person } from "./ground.js";
import type { Shown } from "./shown.js";

// Who may use which tool on what is shared with them.

/** What people hold, from nothing to all. */
const TIERS: readonly Person[] = ["stranger", "view", "config", "manage", "owner"];

/** Who may use a tool on what is shared with them, where its name and hints do not say it, and why. */
const NEEDS: Readonly<Record<string, { readonly tier: Person; readonly why: string }>> = {
  create_document: { tier: "manage", why: "a knowledge base is written by whom it is shared with to manage" },
  update_document: { tier: "manage", why: "a knowledge base is written by whom it is shared with to manage" },
  get_run: { tier: "owner", why: "a run is of the person who triggered it" },
  list_run_steps: { tier: "owner", why: "a run is of the person who triggered it" },
  update_run: { tier: "owner", why: "a run is of the person who triggered it" },
  inspect_agent_traces: { tier: "manage", why: "traces of an agent are read by who manages it" },
  get_trace_payload: { tier: "manage", why: "traces of an agent are read by who manages it" },
  search_knowledge: { tier: "view", why: "who can read no knowledge base does not have it" },
};

/** Whether a person may use a tool on what is shared with them. @param right arguments of a right use. */
export function mayUse(tool: Shown, who: Person, right: object): boolean {
  const isOfObjects = NEEDS[tool.name] !== undefined || idArgumentsOf(tool).some(({ name }) => name in right);
  return !isOfObjects || TIERS.indexOf(who) >= TIERS.indexOf(neededFor(tool));
}

function neededFor({ name, annotations }: Shown): Person {
  const listed = NEEDS[name];
  if (listed !== undefined) return listed.tier;
  if (annotations.readOnlyHint) return "view";
  if (name.startsWith("delete_")) return "manage";
  return name.startsWith("update_") ? "config" : "view";
}
