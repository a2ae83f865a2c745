import { create, type DescMessage, type Message, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { unimplemented } from "./errors.js";

// A long message of somebody else's may take a hundred times as long to decode as
// to pass on. Where its bounds say so (bounds.ts, `unread`), it goes to its method
// as it came, and the method has it read elsewhere than in the loop that serves others.

/** A message as it came: nobody has looked at more than its length. */
export interface Unread {
  readonly bytes: Uint8Array;
  readonly encoding: "protobuf" | "json";
}

const unread = new WeakMap<object, Unread>();

/** A message without fields, behind which the bytes of one stand. */
export function unreadMessage<D extends DescMessage>(desc: D, bytes: Unread): MessageShape<D> {
  const message = create(desc);
  unread.set(message, bytes);
  return message;
}

/** The bytes behind a message; undefined for one whose fields were read. */
export function unreadOf(message: object): Unread | undefined {
  return unread.get(message);
}

/**
 * The same message for a socket: its bytes are written as they came, as fields that nobody knows.
 *
 * @throws ConnectError unimplemented for JSON, which is read in the process that got it, or not at all.
 */
export function writable<D extends DescMessage>(desc: D, request: MessageInitShape<D>): MessageInitShape<D> {
  const it = unread.get(request as object);
  if (it === undefined) return request;
  if (it.encoding === "json") throw unimplemented("the message is too long for JSON: send it as protobuf");
  const message = create(desc) as Message;
  if (it.bytes.length === 0) return message as MessageInitShape<D>;
  // The first tag, and after it all there is: written one behind the other, they are the message.
  const reader = new BinaryReader(it.bytes);
  const [no, wireType] = reader.tag();
  message.$unknown = [{ no, wireType, data: it.bytes.subarray(reader.pos) }];
  return message as MessageInitShape<D>;
}
