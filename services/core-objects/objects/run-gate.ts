import type { Caller } from "../../shared/rpc/call.js";
import { permissionDenied } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import type { ObjectRecord } from "../record.js";
import type { CreateRequest } from "./messages.js";

// A run changes nothing by which a run gets its rights: neither its own, nor those of a run that somebody begins
// later. It is asked here, before the first write, of each object that is created, changed or deleted; the caller of
// a run's call says which run it is (docs/decisions/0041).

/** What says what agents may do: a run changes none of these. */
const GIVES_RIGHTS: ReadonlySet<string> = new Set(["agent", "assignment", "custom tool", "MCP server", "integration"]);

/**
 * What a caller's creation becomes. A run's agent, tool, server or integration is disabled until a person enables it.
 *
 * @throws ConnectError permission_denied if a run would create an assignment, or share such an object.
 */
export function checkedCreation<Request extends CreateRequest>(
  noun: string,
  request: Request,
  caller: Caller,
): Request {
  if (caller.run === undefined || !GIVES_RIGHTS.has(noun)) return request;
  if (noun === "assignment") throw refused("create an assignment");
  if (request.sharing.length > 0) throw refused(`share a new ${noun}`, "omit sharing");
  if (request.companyManaged) throw refused(`create a company-managed ${noun}`, "omit company_managed");
  return { ...request, enabled: false };
}

/** @throws ConnectError permission_denied if the caller is a run that may not change the object. */
export async function checkRunChanges(
  context: Context,
  noun: string,
  { _id }: ObjectRecord,
  caller: Caller,
): Promise<void> {
  if (caller.run === undefined) return;
  if (GIVES_RIGHTS.has(noun)) throw refused(`change this ${noun}`);
  await checkNotUsed(context, noun, _id);
}

/** @throws ConnectError permission_denied if the caller is a run that may not delete the object. */
export async function checkRunDeletes(
  context: Context,
  noun: string,
  { _id }: ObjectRecord,
  caller: Caller,
): Promise<void> {
  if (caller.run === undefined) return;
  if (noun === "assignment") throw refused("delete an assignment");
  const run = await context.runs.findOne({ _id: caller.run }, { projection: { agent: 1 } });
  if (run === null) throw refused("delete an object after its own record was deleted");
  if (run.agent === _id) throw refused("delete its own agent");
  await checkNotUsed(context, noun, _id);
}

/** What an agent works with decides what its runs do, whichever agent that is. */
async function checkNotUsed(context: Context, noun: string, id: string): Promise<void> {
  for (const kind of context.kinds) {
    for (const [field, referred] of Object.entries(kind.references)) {
      if (referred !== noun) continue;
      const using = await context.collection(kind.noun).findOne({ [field]: id }, { projection: { _id: 1 } });
      if (using !== null) throw refused(`change or delete this ${noun}, which ${kind.plural} use`);
    }
  }
}

function refused(what: string, instead = "ask the person you work for to do it"): Error {
  return permissionDenied(
    `a run cannot ${what}, because that could change its rights or those of later runs: ${instead}`,
  );
}
