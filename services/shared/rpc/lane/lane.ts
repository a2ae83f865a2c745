import type { DescMethod } from "@bufbuild/protobuf";
import type { HeardLane } from "./announcement.js";
import { Requests, type Said } from "./framing.js";
import { type Asking, LaneSocket, type OnSocket } from "./lane-socket.js";
import { SharedSocket } from "./shared-socket.js";
import { handshake } from "./websocket.js";

/** A call that is to be sent. */
export interface Sending extends Asking {
  readonly request: LaneRequest;
  /** The connection that it was sent on, or its id on the one that is shared. */
  sentOn: LaneSocket | number | undefined;
  /** It was not sent, and will not be: nothing of it was begun. */
  refused(): void;
}

/** What is sent of a call, and where. */
export interface LaneRequest {
  readonly bytes: Buffer;
  /** On the connection that calls share, where it is a record; or else on one of its own. */
  readonly isShared: boolean;
}

/** The most connections of a lane; a call that finds none free goes to the gRPC port. */
const MOST_SOCKETS = 128;
/** A longer message has a connection of its own, on which its server reads no more than it has room for; in bytes. */
const MAX_SHARED = 64 << 10;
/** The server closes a connection that is idle for 8 to 12 seconds. */
const IDLE_MS = 4_000;
const SWEEP_MS = 1_000;

/**
 * The connections of this process to the lane of another: one that calls share, and for long messages one each. A lane is
 * open for as long as the shared one is: another program may have the port later. Each is given calls once it has
 * shown that it has the token.
 */
export class Lane {
  readonly #requests: Requests;
  readonly #heard: HeardLane;
  readonly #onEnd: (wasOpen: boolean) => void;
  readonly #on: OnSocket = { freed: (socket) => this.#freed(socket), closed: (socket) => this.#closed(socket) };
  readonly #shared: SharedSocket;
  readonly #dialled = new Set<LaneSocket>();
  readonly #open = new Set<LaneSocket>();
  /** The last one used comes last, and is used first: those that are not needed become old. */
  readonly #idle: LaneSocket[] = [];
  /** Each waits for a connection that is dialled, or for one that is freed before. */
  readonly #waiting = new Set<Sending>();
  readonly #sweeping: NodeJS.Timeout;
  #isOpen = false;
  #hasEnded = false;

  /** @param onEnd is called when the connection that calls share has gone, or could not be had. */
  constructor(heard: HeardLane, onEnd: (wasOpen: boolean) => void) {
    this.#requests = new Requests(heard);
    this.#heard = heard;
    this.#onEnd = onEnd;
    this.#sweeping = setInterval(() => this.#sweep(), SWEEP_MS).unref();
    this.#shared = new SharedSocket(heard, handshake(this.#requests.end), {
      opened: () => {
        this.#isOpen = true;
      },
      closed: (isSilent) => {
        clearInterval(this.#sweeping);
        this.end();
        if (isSilent) for (const socket of this.#open) socket.close();
      },
    });
  }

  /** Whether it can take a call. */
  get hasRoom(): boolean {
    return this.#shared.hasRoom || this.#hasOwn;
  }

  /** Whether there is a connection for a call of its own, or can be. */
  get #hasOwn(): boolean {
    return this.#idle.length > 0 || (this.#isOpen && this.#open.size + this.#dialled.size < MOST_SOCKETS);
  }

  /**
   * A call's request, to be sent now; undefined if the lane cannot take it.
   *
   * @param timeoutMs how long the call may take, from now.
   */
  requestOf(
    method: DescMethod,
    said: Said,
    timeoutMs: number | undefined,
    message: Uint8Array,
  ): LaneRequest | undefined {
    const isShared = message.length <= MAX_SHARED && this.#shared.hasRoom;
    if (!isShared && !this.#hasOwn) return undefined;
    const bytes = isShared
      ? this.#requests.sharedOf(method, said, timeoutMs, message)
      : this.#requests.of(method, said, timeoutMs, message);
    return bytes && { bytes, isShared };
  }

  /** Sends a call, at once or when there is a connection for it. */
  send(call: Sending): void {
    if (call.request.isShared) {
      call.sentOn = this.#shared.send(call.request.bytes, call);
      return;
    }
    for (let socket = this.#idle.pop(); socket !== undefined; socket = this.#idle.pop()) {
      // The loop may have been busy for longer than the server waits.
      const isFresh = performance.now() - socket.idleSince < IDLE_MS;
      if (isFresh && socket.isWritable) return void give(socket, call);
      socket.close();
    }
    this.#waiting.add(call);
    this.#dial();
  }

  /** Takes back a call: its method hears of it, because its connection is closed, or by a word on the one that is shared. */
  takeBack(call: Sending): void {
    const { sentOn } = call;
    if (typeof sentOn === "number") this.#shared.takeBack(sentOn);
    else if (!this.#waiting.delete(call)) sentOn?.close();
  }

  /** Gives it up. What was sent is still answered, and so the shared connection is looked at until it has closed. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#onEnd(this.#isOpen);
    for (const socket of [...this.#idle.splice(0), ...this.#dialled]) socket.close();
    this.#leaveShared();
    for (const call of this.#waiting) call.refused();
    this.#waiting.clear();
  }

  #dial(): void {
    this.#dialled.add(new LaneSocket(this.#heard, this.#requests.hello, this.#on));
  }

  #freed(socket: LaneSocket): void {
    if (this.#dialled.delete(socket)) this.#open.add(socket);
    if (this.#hasEnded) return void socket.close();
    const next = this.#waiting.size === 0 ? undefined : this.#waiting.values().next().value;
    if (next === undefined) return void this.#idle.push(socket);
    this.#waiting.delete(next);
    give(socket, next);
  }

  #closed(socket: LaneSocket): void {
    const wasDialled = this.#dialled.delete(socket);
    this.#open.delete(socket);
    const at = this.#idle.indexOf(socket);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#leaveShared();
    // The first call that waits goes to the gRPC port: the busy connections may take long to be free.
    const next = wasDialled ? this.#waiting.values().next().value : undefined;
    if (next === undefined) return;
    this.#waiting.delete(next);
    next.refused();
  }

  #sweep(): void {
    const old = performance.now() - IDLE_MS;
    for (const socket of [...this.#idle]) if (socket.idleSince < old) socket.close();
    this.#shared.look(this.#open.size > this.#idle.length ? Number.NEGATIVE_INFINITY : old);
  }

  /** It stays open for calls that have connections of their own: there alone it is heard that the server has gone. */
  #leaveShared(): void {
    if (this.#hasEnded && this.#open.size === 0) this.#shared.leave();
  }
}

function give(socket: LaneSocket, call: Sending): void {
  call.sentOn = socket;
  socket.send(call.request.bytes, call);
}
