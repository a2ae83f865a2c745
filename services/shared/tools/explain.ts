import { ViolationsSchema } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { Code, type ConnectError } from "@connectrpc/connect";

/** The codes whose message is written for the caller; the others stay in the log. */
const SPOKEN: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.AlreadyExists,
  Code.PermissionDenied,
  Code.FailedPrecondition,
  Code.Aborted,
  Code.OutOfRange,
  Code.ResourceExhausted,
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.Unimplemented,
]);

/**
 * Says a service's error to the model: a line it can act on, with each broken
 * rule by the argument's name; undefined where the model can do nothing.
 */
export function explain(error: ConnectError): string | undefined {
  if (!SPOKEN.has(error.code)) return undefined;
  const violations = error.findDetails(ViolationsSchema).flatMap((details) => details.violations);
  const lines = violations.map((violation) => {
    const path = violation.field?.elements.map((element) =>
      element.subscript.case === undefined ? element.fieldName : `${element.fieldName}[${element.subscript.value}]`,
    );
    return path === undefined ? violation.message : `${path.join(".")}: ${violation.message}`;
  });
  return lines.length > 0 ? lines.join("\n") : error.rawMessage;
}
