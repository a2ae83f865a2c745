import type { Caller } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import type { Model } from "./model.js";
import { placeOf } from "./secrets.js";

/** Who writes an object, and how what is secret of it is kept. */
export interface Writer {
  readonly userId: string;
  /** @param field names the text among those that are sealed of the object. */
  seal(text: string, field: string): string;
}

/** The one who calls, as the writer of the object with the id. */
export function writerFor({ seal }: Context, model: Model, id: string, caller: Caller): Writer {
  return { userId: caller.id, seal: (text, field) => seal.seal(text, placeOf(model, id, field)) };
}
