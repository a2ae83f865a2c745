import { PayloadType } from "#proto/aev/v1/payload_service_pb.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { wordOf } from "../../lib/words.js";

type Argument = "command" | "hostname" | "document_id";

/** The types of payloads that have an argument: OpenAEV leaves it out of others, and does not say so. */
const TYPES_WITH: Readonly<Record<Argument, readonly PayloadType[]>> = {
  command: [PayloadType.COMMAND],
  hostname: [PayloadType.DNS_RESOLUTION],
  document_id: [PayloadType.EXECUTABLE, PayloadType.FILE_DROP],
};

/**
 * Confirms that a payload of this type has what was given.
 *
 * @throws ConnectError invalid_argument that names one which it does not have.
 */
export function needOfType(type: PayloadType, sent: Readonly<Partial<Record<Argument, string | undefined>>>): void {
  for (const [name, types] of Object.entries(TYPES_WITH)) {
    if (sent[name as Argument] === undefined || types.includes(type)) continue;
    const words = types.map((one) => wordOf(PayloadType, one)).join(" or ");
    throw invalidArgument(`${name}: only a payload of type ${words} has one; leave it out`);
  }
}

/** @throws ConnectError invalid_argument: the platform keeps a command and its shell together, and calls half of them a conflict. */
export function needWholeCommands(sent: {
  readonly command_executor: string | null;
  readonly command_content: string | null;
  readonly payload_cleanup_executor: string | null;
  readonly payload_cleanup_command: string | null;
}): void {
  const { command_executor: executor, command_content: command } = sent;
  if (executor === "") throw invalidArgument("executor: must not be empty");
  if (command === "") throw invalidArgument("command: must not be empty");
  if ((executor === null) !== (command === null))
    throw invalidArgument("executor: give executor and command together; only a payload of type command has them");
  if (sent.payload_cleanup_command !== null && !sent.payload_cleanup_executor)
    throw invalidArgument("cleanup_command: needs executor, the shell that it runs in");
}
