import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import { messageIn } from "../binary/read.js";

/** The longest message that is kept, in bytes: one of short rows takes eighteen times its bytes of memory. */
const MAX_MESSAGE = 32 << 10;
/** The most that is kept, in bytes. */
const MAX_KEPT = 512 << 10;

/** Messages by their type and bytes: a list that is read again and again comes in the same bytes. */
const kept = new LRUCache<string, { readonly desc: DescMessage; readonly message: object }>({ maxSize: MAX_KEPT });

/**
 * Reads a message that its caller only reads: bytes that came before are the message that was made of them then, frozen.
 *
 * @throws Error for what is no such message.
 */
export function sharedMessageIn<D extends DescMessage>(desc: D, bytes: Buffer): MessageShape<D> {
  if (bytes.length > MAX_MESSAGE) return messageIn(desc, bytes);
  const key = bytes.toString("latin1");
  const before = kept.get(key);
  if (before?.desc === desc) return before.message as MessageShape<D>;
  const message = Object.freeze(messageIn(desc, bytes)) as MessageShape<D>;
  kept.set(key, { desc, message }, { size: bytes.length + 1 });
  return message;
}
