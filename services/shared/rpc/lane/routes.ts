import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createMethodUrl } from "@connectrpc/connect/protocol";
import { type Admit, admission } from "../admission.js";
import { messageIn } from "../binary/read.js";
import { boundsOf } from "../bounds.js";
import { type Chain, chain, type Run } from "../chain.js";
import type { Method } from "../method.js";
import { type MessageLimits, messageLimitsOf } from "../socket/message-limits.js";
import { scopeOf } from "../steps/access.js";
import { PUBLIC } from "../steps/caller.js";
import "../text-encoding.js";
import { unreadMessage } from "../unread.js";
import { checkWire } from "../wire.js";

/** What stands behind a path of the lane. */
export interface LaneRoute {
  readonly path: string;
  readonly method: Method;
  /** Open to everybody, and so to our own processes without a credential. */
  readonly isPublic: boolean;
  readonly limits: MessageLimits;
  readonly admit: Admit;
  /**
   * Decodes a message, after the same checks that the gRPC port makes.
   *
   * @throws ConnectError invalid_argument, or resource_exhausted for one that is made of too much.
   */
  readonly read: (bytes: Uint8Array) => Message;
  readonly run: Run;
}

/** The unary ones of some methods, each with the steps in front of it. */
export function laneRoutesOf(methods: readonly { readonly method: Method; readonly steps: Chain }[]): LaneRoute[] {
  return methods
    .filter(({ method }) => method.desc.methodKind === "unary")
    .map(({ method, steps }) => {
      // Made at the first call: to read the rules of every rpc takes time at a start.
      let limits: MessageLimits | undefined;
      return {
        path: createMethodUrl("/", method.desc),
        method,
        isPublic: scopeOf(method) === PUBLIC,
        get limits() {
          limits ??= messageLimitsOf(method);
          return limits;
        },
        admit: admission(method, steps),
        read: readerOf(method),
        run: chain(method, steps),
      };
    });
}

function readerOf({ desc: { input } }: Method): LaneRoute["read"] {
  return (bytes) => {
    const bounds = boundsOf(input);
    if (bytes.length > (bounds.unread ?? Number.POSITIVE_INFINITY))
      return unreadMessage(input, { bytes, encoding: "protobuf" });
    checkWire(input, bytes, bounds);
    try {
      return messageIn(input, bytes);
    } catch (error) {
      throw ConnectError.from(error, Code.InvalidArgument);
    }
  };
}
