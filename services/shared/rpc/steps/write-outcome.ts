import type { DescMethod } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import type { Incoming } from "../call.js";
import { isWriteTool, settled, withOutcome } from "../write-outcome.js";

type Run = (request: unknown, incoming: Incoming) => unknown;

/**
 * Makes every failure of a tool that changes something say what became of the change.
 *
 * @param hasBegun whether the method was reached; before that nothing is changed.
 */
export function sayingOutcome(desc: DescMethod, run: Run, hasBegun: (incoming: Incoming) => boolean): Run {
  if (!isWriteTool(desc)) return run;
  const told = (error: unknown, incoming: Incoming): never => {
    const failed = ConnectError.from(error);
    throw hasBegun(incoming) ? settled(failed) : withOutcome(failed, Outcome.UNCHANGED);
  };
  if (desc.methodKind !== "unary") {
    return async function* (request, incoming) {
      try {
        yield* run(request, incoming) as AsyncIterable<unknown>;
      } catch (error) {
        told(error, incoming);
      }
    };
  }
  return (request, incoming) => {
    try {
      const result = run(request, incoming);
      return result instanceof Promise ? result.catch((error: unknown) => told(error, incoming)) : result;
    } catch (error) {
      return told(error, incoming);
    }
  };
}
