import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { type Binding, unary } from "../binding.js";
import type { Platform } from "../platform.js";
import { takingTurns } from "./taking-turns.js";

/**
 * Answers an rpc that reads an object and writes it back whole, since the
 * platform empties what a write leaves out: of two for one object at once, the
 * second would undo the first.
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
