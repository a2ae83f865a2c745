import type { Socket } from "node:net";
import { partyOf } from "../../limits/party.js";

/** How long one that was hung up on may take to read why, in milliseconds. */
const FAREWELL_MS = 1_000;

/** One connection, and what is known of who is at its other end. */
export class Connection {
  /** Of the party at its other end. */
  readonly address: string;
  /** Calls that are open on it. */
  calls = 0;
  /** Undefined for a stranger's; else the key or user that called first, "" for our own processes. */
  caller: string | undefined;
  /** Of the calls so far, how many were refused in a row. */
  refusals = 0;
  /** By performance.now(): when it was opened, or its last call ended. */
  idleSince = performance.now();
  /** Bytes that it had sent when they were last asked for, or were a caller's for a call. */
  #sent = 0;
  /** Settles with the verification that is under way for a stranger. */
  verifying: Promise<unknown> | undefined;
  /** Ends it in the way of its protocol. */
  farewell: () => void;
  /** Lets it have as many calls open as our own processes may need, where its protocol bounds them. */
  widen: () => void = () => undefined;
  #isLeft = false;

  constructor(readonly socket: Socket) {
    this.address = partyOf(socket.remoteAddress ?? "");
    this.farewell = () => socket.destroy();
  }

  /** It was hung up on, or has ended: what still comes of it is nobody's business. */
  get isLeft(): boolean {
    return this.#isLeft || this.socket.destroyed;
  }

  /** One of its calls has ended. */
  callEnded(): void {
    this.calls--;
    this.idleSince = performance.now();
    if (this.caller !== undefined) this.#sent = this.socket.bytesRead;
  }

  /** The bytes that it has sent since this was last asked; of a caller's those since its last call. */
  sent(): number {
    const { bytesRead } = this.socket;
    const since = bytesRead - this.#sent;
    this.#sent = bytesRead;
    return since;
  }

  /** Ends it; more than once is once. */
  hangUp(): void {
    if (this.isLeft) return;
    this.#isLeft = true;
    const late = setTimeout(() => this.socket.destroy(), FAREWELL_MS);
    this.socket.once("close", () => clearTimeout(late));
    this.farewell();
  }
}
