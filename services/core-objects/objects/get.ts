import type { Message } from "@bufbuild/protobuf";
import type { Call, Caller } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import type { ObjectRecord } from "../record.js";
import { readable } from "./gate.js";
import type { Model } from "./model.js";
import { camelOf } from "./names.js";
import { oneViewOf } from "./view.js";

/** Answers with more, or less, than an object. */
export type Show = (
  request: object,
  record: ObjectRecord,
  caller: Caller,
  shown: (record: ObjectRecord) => Promise<Message>,
) => Promise<object>;

/** Reads one object in full. */
export function getObject(model: Model, show?: Show) {
  const member = camelOf(model.noun);
  return async (context: Context, request: object, call: Call): Promise<object> => {
    const id = idIn(request, member);
    const record = await readable(context, model.noun, id, call.caller);
    const shown = (one: ObjectRecord): Promise<Message> => oneViewOf(context, model, one, call);
    return show === undefined ? { [member]: await shown(record) } : show(request, record, call.caller, shown);
  };
}

/**
 * The id that a request names its object by.
 *
 * @param member the noun of its kind, as a member of a message has it.
 */
export function idIn(request: object, member: string): string {
  return (request as Readonly<Record<string, string>>)[`${member}Id`]!;
}
