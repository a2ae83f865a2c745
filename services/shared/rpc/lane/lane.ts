import type { HeardLane } from "./announcement.js";
import { Requests } from "./framing.js";
import { type Asking, LaneSocket, type OnSocket } from "./lane-socket.js";

/** A call that is to be sent. */
export interface Sending extends Asking {
  readonly request: Buffer;
  /** The connection that it was sent on. */
  socket: LaneSocket | undefined;
  /** It was not sent, and will not be: nothing of it was begun. */
  refused(): void;
}

/** The most connections of a lane; a call that finds none free goes to the gRPC port. */
const MOST_SOCKETS = 128;
/** The server closes a connection that is idle for 8 to 12 seconds. */
const IDLE_MS = 4_000;
const SWEEP_MS = 1_000;

/**
 * The connections of this process to the lane of another. A lane is open for as long as one of them is: another
 * program may have the port later. Each is given calls once it has shown that it has the token.
 */
export class Lane {
  readonly requests: Requests;
  readonly #heard: HeardLane;
  readonly #onEnd: (wasOpen: boolean) => void;
  readonly #on: OnSocket = { freed: (socket) => this.#freed(socket), closed: (socket) => this.#closed(socket) };
  readonly #dialled = new Set<LaneSocket>();
  readonly #open = new Set<LaneSocket>();
  /** The last one used comes last, and is used first: those that are not needed become old. */
  readonly #idle: LaneSocket[] = [];
  /** Each waits for a connection that is dialled, or for one that is freed before. */
  readonly #waiting = new Set<Sending>();
  readonly #sweeping: NodeJS.Timeout;
  #wasOpen = false;
  #hasEnded = false;

  /** @param onEnd is called when there is no connection any more, or the first one could not be had. */
  constructor(heard: HeardLane, onEnd: (wasOpen: boolean) => void) {
    this.requests = new Requests(heard);
    this.#heard = heard;
    this.#onEnd = onEnd;
    this.#sweeping = setInterval(() => this.#sweep(), SWEEP_MS).unref();
    this.#dial();
  }

  /** Whether it can take a call. */
  get hasRoom(): boolean {
    if (this.#idle.length > 0) return true;
    return this.#open.size > 0 && this.#open.size + this.#dialled.size < MOST_SOCKETS;
  }

  /** Sends a call, at once or when there is a connection for it. */
  send(call: Sending): void {
    for (let socket = this.#idle.pop(); socket !== undefined; socket = this.#idle.pop()) {
      // The loop may have been busy for longer than the server waits.
      const isFresh = performance.now() - socket.idleSince < IDLE_MS;
      if (isFresh && socket.isWritable) return void give(socket, call);
      socket.close();
    }
    this.#waiting.add(call);
    this.#dial();
  }

  /** Takes back a call that waits, or hangs up on one that was sent: so its method hears of it. */
  takeBack(call: Sending): void {
    if (this.#waiting.delete(call) || call.socket === undefined) return;
    call.socket.close();
    // The lane stays open without it.
    if (this.#open.size === 1 && !this.#hasEnded) this.#dial();
  }

  /** Gives it up. What was sent is still answered. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearInterval(this.#sweeping);
    this.#onEnd(this.#wasOpen);
    for (const socket of [...this.#idle.splice(0), ...this.#dialled]) socket.close();
    for (const call of this.#waiting) call.refused();
    this.#waiting.clear();
  }

  #dial(): void {
    this.#dialled.add(new LaneSocket(this.#heard, this.requests.hello, this.#on));
  }

  #freed(socket: LaneSocket): void {
    if (this.#dialled.delete(socket)) {
      this.#open.add(socket);
      this.#wasOpen = true;
    }
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
    if (this.#open.size + this.#dialled.size === 0) return void this.end();
    // The first call that waits goes to the gRPC port: the busy connections may take long to be free.
    const next = wasDialled ? this.#waiting.values().next().value : undefined;
    if (next === undefined) return;
    this.#waiting.delete(next);
    next.refused();
  }

  #sweep(): void {
    const old = performance.now() - IDLE_MS;
    for (const socket of [...this.#idle]) if (socket.idleSince < old) socket.close();
  }
}

function give(socket: LaneSocket, call: Sending): void {
  call.socket = socket;
  socket.send(call.request, call);
}
