import type { Call } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import { readable } from "./gate.js";
import type { Model } from "./model.js";
import { camelOf } from "./names.js";
import { oneViewOf } from "./view.js";

/** Reads one object in full. */
export function getObject(model: Model) {
  const member = camelOf(model.noun);
  return async (context: Context, request: object, call: Call): Promise<object> => {
    const id = idIn(request, model);
    const record = await readable(context, model.noun, id, call.caller);
    return { [member]: await oneViewOf(context, model, record, call) };
  };
}

/** The id that a request names its object by. */
export function idIn(request: object, { noun }: Model): string {
  return (request as Readonly<Record<string, string>>)[`${camelOf(noun)}Id`]!;
}
