import { type DescMethod, isMessage, type Message } from "@bufbuild/protobuf";
import { createValidator, type Violation, violationsToProto } from "@bufbuild/protovalidate";
import { ViolationsSchema } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { Code, ConnectError } from "@connectrpc/connect";
import { internal } from "../errors.js";

const validator = createValidator();

/**
 * Checks a request against the rules that its message states (buf.validate).
 *
 * @throws ConnectError invalid_argument with one violation for each broken rule.
 */
export function checkRules(desc: DescMethod, request: Message): void {
  if (!isMessage(request)) throw new TypeError(`${desc.name}: the request is not a message`);
  const result = validator.validate(desc.input, request);
  if (result.kind === "valid") return;
  if (result.kind === "error") throw internal("the rules of this rpc cannot be checked", result.error);
  const value = violationsToProto(result.violations)[0]!;
  result.violations.forEach((violation, i) => {
    const members = membersOf(violation);
    if (members === undefined) return;
    // A oneof is none of the names that a caller writes: its members are.
    const told = value.violations[i]!;
    told.message = `give exactly one of ${members.join(", ")}`;
    delete told.field;
  });
  const message = result.violations.some((violation) => membersOf(violation) !== undefined)
    ? value.violations.map((told) => told.message).join("; ")
    : result.error.message;
  throw new ConnectError(message, Code.InvalidArgument, undefined, [{ desc: ViolationsSchema, value }]);
}

/** The names of a oneof's fields, where the broken rule is a oneof's. */
function membersOf({ field }: Violation): string[] | undefined {
  const last = field.at(-1);
  return last?.kind === "oneof" ? last.fields.map(({ name }) => name) : undefined;
}
