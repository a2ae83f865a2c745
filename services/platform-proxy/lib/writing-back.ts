import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { type Binding, unary } from "../binding.js";
import type { Platform } from "../platform.js";
import { takingTurns } from "./taking-turns.js";

/**
 * Answers an rpc that changes an object of a platform that writes objects whole:
 * it empties what a write leaves out, or saves every column as it read it. Of
 * two changes of one object at once, the second would undo the first.
 *
 * @param idsOf what tells the object from others; one that is not given counts for none.
 */
export function writingBack<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  idsOf: (request: MessageShape<I>) => readonly (string | undefined)[],
  run: (request: MessageShape<I>, platform: Platform) => Promise<MessageInitShape<O>>,
): Binding {
  return unary(method, (request, platform) => {
    const ids = idsOf(request).filter((id) => id !== undefined);
    return takingTurns(platform, "object", ids, () => run(request, platform));
  });
}
