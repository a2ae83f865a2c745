import {
  type DescMessage,
  type DescMethodUnary,
  isMessage,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { errorFromJsonBytes, trailerDemux, validateResponse } from "@connectrpc/connect/protocol-connect";
import { messageIn } from "../binary/read.js";
import { binaryOf } from "../binary/write.js";
import type { StopSignal } from "../dispatch.js";
import { deadlineExceeded, internal, unavailable } from "../errors.js";
import { messageFrom } from "../message-from.js";
import "../text-encoding.js";
import { type CallDeadlines, Timed } from "./call-deadlines.js";
import { type AnswerHead, headersOf, type Said } from "./framing.js";
import type { Lane, LaneRequest, Sending } from "./lane.js";
import type { LaneSocket } from "./lane-socket.js";
import { sharedMessageIn } from "./shared-replies.js";

/** What goes with a call on a lane. */
export interface LaneOutgoing {
  readonly said: Said;
  readonly stop: StopSignal | undefined;
  /** How long it may take, in milliseconds. */
  readonly timeoutMs: number | undefined;
  /** The signal is aborted then, too: nobody else need watch the clock. */
  readonly signalsDeadline: boolean;
  readonly sharesReply: boolean;
}

/** The call was certainly not begun: another way may be tried, whatever it does. */
export class NotBegun extends Error {}

/** The connection was lost, and with it the answer: the call may have been begun. */
export class AnswerLost extends Error {
  readonly code = "ECONNRESET";
}

const OK = 200;
/** Misdirected Request (RFC 9110 section 15.5.20): the lane begins nothing any more. */
const MISDIRECTED = 421;

/**
 * Makes a unary call of the Connect protocol on a lane; undefined if the lane cannot take it.
 *
 * @throws ConnectError whose cause is AnswerLost if that is what happened, or NotBegun.
 */
export function askOnLane<I extends DescMessage, O extends DescMessage>(
  lane: Lane,
  deadlines: CallDeadlines,
  method: DescMethodUnary<I, O>,
  asked: MessageInitShape<I>,
  out: LaneOutgoing,
): Promise<MessageShape<O>> | undefined {
  if (!lane.hasRoom) return undefined;
  const request = lane.requestOf(method, out.said, out.timeoutMs, bytesOf(method.input, asked));
  if (request === undefined) return undefined;
  return new Promise<MessageShape<O>>((resolve, reject) => {
    new AskedCall(lane, deadlines, method.output, request, out, resolve, reject).begin();
  });
}

class AskedCall<O extends DescMessage> extends Timed implements Sending {
  sentOn: LaneSocket | number | undefined;
  readonly deadline: number;
  readonly #lane: Lane;
  readonly #deadlines: CallDeadlines;
  readonly #output: O;
  readonly #stopSignal: StopSignal | undefined;
  readonly #sharesReply: boolean;
  readonly #resolve: (reply: MessageShape<O>) => void;
  readonly #reject: (error: Error) => void;
  readonly #onAbort = (): void => this.#stop(ConnectError.from(this.#stopSignal?.reason, Code.Canceled));

  constructor(
    lane: Lane,
    deadlines: CallDeadlines,
    output: O,
    readonly request: LaneRequest,
    { stop, timeoutMs, signalsDeadline, sharesReply }: LaneOutgoing,
    resolve: (reply: MessageShape<O>) => void,
    reject: (error: Error) => void,
  ) {
    super();
    this.#lane = lane;
    this.#deadlines = deadlines;
    this.#output = output;
    this.#stopSignal = stop;
    this.#sharesReply = sharesReply;
    this.#resolve = resolve;
    this.#reject = reject;
    const isWatched = timeoutMs !== undefined && !signalsDeadline;
    this.deadline = isWatched ? Date.now() + timeoutMs : Number.POSITIVE_INFINITY;
  }

  begin(): void {
    if (this.#stopSignal?.aborted === true) return void this.#onAbort();
    this.#stopSignal?.addEventListener("abort", this.#onAbort);
    if (this.deadline !== Number.POSITIVE_INFINITY) this.#deadlines.add(this);
    this.#lane.send(this);
  }

  answered(head: AnswerHead, body: Buffer): void {
    this.#settle();
    if (head.status === MISDIRECTED) {
      this.#lane.end();
      this.#reject(new NotBegun());
      return;
    }
    try {
      this.#resolve(replyIn(this.#output, head, body, this.#sharesReply));
    } catch (error) {
      this.#reject(ConnectError.from(error, Code.Internal));
    }
  }

  lost(cause: Error | undefined): void {
    this.#settle();
    const lost = new AnswerLost("the connection was lost", { cause });
    this.#reject(unavailable("the connection to the service was lost before it answered", lost));
  }

  refused(): void {
    this.#settle();
    this.#reject(new NotBegun());
  }

  late(): void {
    this.#stop(deadlineExceeded("the deadline passed"));
  }

  #stop(error: ConnectError): void {
    this.#settle();
    this.#lane.takeBack(this);
    this.#reject(error);
  }

  #settle(): void {
    this.#stopSignal?.removeEventListener("abort", this.#onAbort);
    this.leave();
  }
}

/** @throws ConnectError: the one that was answered, or internal for an answer that is not one of this protocol. */
function replyIn<O extends DescMessage>(output: O, head: AnswerHead, body: Buffer, shares: boolean): MessageShape<O> {
  if (head.status === OK) {
    if (!head.isMessage) throw internal("the service answered with another type of message");
    return shares ? sharedMessageIn(output, body) : messageIn(output, body);
  }
  const headers = headersOf(head);
  const { unaryError } = validateResponse("unary", true, head.status, headers);
  const [header, trailer] = trailerDemux(headers);
  for (const [name, value] of trailer) header.append(name, value);
  throw errorFromJsonBytes(body, header, unaryError as ConnectError);
}

function bytesOf<M extends DescMessage>(desc: M, value: MessageInitShape<M>): Uint8Array {
  return binaryOf(desc, isMessage(value) ? (value as MessageShape<M>) : messageFrom(desc, value));
}
