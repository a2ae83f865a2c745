import type { DescMethod, Message } from "@bufbuild/protobuf";
import { boundsOf, FOREIGN_BOUNDS, MAX_TEXT } from "../bounds.js";
import { resourceExhausted } from "../errors.js";
import { compileTextSize, type TextSize } from "../text-size.js";
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
  let charactersOf: TextSize | undefined;
  return (request) => {
    charactersOf ??= boundsOf(input).bytes > MAX_TEXT ? compileTextSize(input, (text) => text.length) : () => 0;
    // A character has three bytes at most: what is shorter need not be measured.
    if (charactersOf(request) * 3 > MAX_TEXT && compileTextSize(input, Buffer.byteLength)(request) > MAX_TEXT)
      throw resourceExhausted(
        `all texts of a request together may have at most ${MAX_TEXT} bytes in UTF-8: send less at a time`,
      );
  };
}
