import { type Era, type Kind, type Message, messageOf, type ToolCall } from "./mcp/message.js";
import type { Weighted } from "./turns.js";

/** One kind of request in one era. */
export interface Operation {
  readonly kind: Kind;
  readonly era: Era;
  readonly message: Message;
}

/** What operations are made of. */
export interface Mix {
  readonly mix: readonly Weighted<Kind>[];
  readonly eras: readonly Weighted<Era>[];
  readonly calls: Readonly<Record<"call" | "progress", ToolCall>>;
}

/** The operations of a mix, each with its share: the product of the weights of its kind and its era. */
export function operationsOf({ mix, eras, calls }: Mix): readonly Weighted<Operation>[] {
  return eras.flatMap(([era, ofEra]) =>
    mix.map(([kind, ofKind]): Weighted<Operation> => {
      const call = kind === "progress" ? calls.progress : calls.call;
      return [{ kind, era, message: messageOf(kind, era, call) }, ofEra * ofKind];
    }),
  );
}
