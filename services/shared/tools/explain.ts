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

/** One line of what a model is told. */
export interface Line {
  readonly said: string;
  /** The names that lead to the argument whose value breaks a rule, none if no value does; undefined if the error does not say. */
  readonly path?: readonly string[];
}

/**
 * Says a service's error to the model: a line it can act on, with each broken
 * rule by the argument's name; undefined where the model can do nothing.
 */
export function explain(error: ConnectError): string | undefined {
  return linesOf(error)
    ?.map(({ said }) => said)
    .join("\n");
}

/** The lines of {@link explain}. */
export function linesOf(error: ConnectError): Line[] | undefined {
  if (!SPOKEN.has(error.code)) return undefined;
  const violations = error.findDetails(ViolationsSchema).flatMap((details) => details.violations);
  const lines = violations.map(({ field, message, ruleId }): Line => {
    if (field === undefined) return { said: message, path: [] };
    const path = field.elements.map((element) =>
      element.subscript.case === undefined ? element.fieldName : `${element.fieldName}[${element.subscript.value}]`,
    );
    const own = OF_LISTS.test(ruleId) ? [] : field.elements.map(({ fieldName }) => fieldName);
    return { said: `${path.join(".")}: ${message}`, path: own };
  });
  return lines.length > 0 ? lines : [{ said: error.rawMessage }];
}

/** Rules that a list breaks as a whole: its values may be right. */
const OF_LISTS = /^(?:repeated|map)\./;
