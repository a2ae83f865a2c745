import type { Caller } from "../../../shared/rpc/call.js";
import { notFound } from "../../../shared/rpc/errors.js";
import { quoted } from "../../../shared/rpc/quoted.js";
import type { Context } from "../../context.js";
import type { RunRecord } from "../record.js";

/** A run of the caller's own: nobody else's are there for them. @throws ConnectError not_found. */
export async function ownRun({ runs }: Context, id: string, caller: Caller): Promise<RunRecord> {
  const run = await runs.findOne({ _id: id });
  if (run === null || run.owner !== caller.id)
    throw notFound(`you have no run with the id ${quoted(id)}; list_runs returns your runs`);
  return run;
}
