import type { DescMethod, Message } from "@bufbuild/protobuf";
import { boundsOf, FOREIGN_BOUNDS, MAX_TEXT } from "../bounds.js";
import { resourceExhausted } from "../errors.js";
import { compileTextLength, type TextLength } from "../text-length.js";
import { isForServices } from "./access.js";

/** Checks a request, and throws where it is refused. */
type Check = (request: Message) => void;

/**
 * How the text of a method's requests is bounded before their rules are looked at, which read every character;
 * undefined where others bound it.
 *
 * The check throws ConnectError resource_exhausted.
 */
export function checkTextsOf(desc: DescMethod): Check | undefined {
  const { input } = desc;
  if (FOREIGN_BOUNDS[input.typeName] !== undefined || isForServices(desc)) return undefined;
  // Made at the first call: to read the rules of every rpc takes time at a start.
  let lengthOf: TextLength | undefined;
  return (request) => {
    lengthOf ??= boundsOf(input).bytes > MAX_TEXT ? compileTextLength(input) : () => 0;
    // A character has three bytes at most: what is shorter need not be measured.
    if (lengthOf(request) * 3 > MAX_TEXT && bytesIn(request) > MAX_TEXT)
      throw resourceExhausted(
        `all texts of a request together may have at most ${MAX_TEXT} bytes in UTF-8: send less at a time`,
      );
  };
}

/** The bytes of all texts of a message, about: the names of its types are counted too. */
function bytesIn(value: object): number {
  let bytes = 0;
  for (const one of Object.values(value) as unknown[]) {
    if (typeof one === "string") bytes += Buffer.byteLength(one);
    else if (isMessageOrList(one)) bytes += bytesIn(one);
  }
  return bytes;
}

function isMessageOrList(value: unknown): value is object {
  return typeof value === "object" && value !== null && !(value instanceof Uint8Array);
}
