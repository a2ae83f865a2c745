import type { DescMethod, Message } from "@bufbuild/protobuf";
import { boundsOf, FOREIGN_BOUNDS, MAX_TEXT } from "../bounds.js";
import { resourceExhausted } from "../errors.js";
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
  // Found at the first call: the rules of all rpcs together take a tenth of a start to read.
  let canHoldMore: boolean | undefined;
  return (request) => {
    canHoldMore ??= boundsOf(input).bytes > MAX_TEXT;
    if (canHoldMore && textIn(request) > MAX_TEXT)
      throw resourceExhausted(
        `all texts of a request together may have at most ${MAX_TEXT} bytes in UTF-8: send less at a time`,
      );
  };
}

/** The bytes of all texts of a message, about: the names of its types are counted too. */
function textIn(value: object): number {
  let bytes = 0;
  for (const one of Object.values(value) as unknown[]) {
    if (typeof one === "string") bytes += Buffer.byteLength(one);
    else if (typeof one === "object" && one !== null && !(one instanceof Uint8Array)) bytes += textIn(one);
  }
  return bytes;
}
