import type { Socket } from "node:net";
import type { Rate } from "../../limits/bucket.js";
import { Buckets } from "../../limits/buckets.js";
import type { Caller } from "../call.js";
import { Connection } from "./connection.js";
import { type StrangerLimits, Strangers } from "./strangers.js";

// Who has called with a credential that is good keeps a connection; a stranger
// keeps one for as long as there is room, and what strangers of an address do
// is limited. Our own processes are never shut out.

/** How many connections there may be, and what strangers may do. */
export interface ConnectionLimits extends StrangerLimits {
  /** Connections at once. */
  readonly total: number;
  /** Of them, how many are kept free of callers other than our own processes. */
  readonly reserved: number;
  /** Connections at once that one key, or user without one, has called by. */
  readonly perCaller: number;
  /** New connections of such a caller that cost its address nothing. */
  readonly arrivals: Rate;
  /** Calls that such a caller may take back. */
  readonly takenBack: Rate;
  /** Calls of such a caller that may be refused because too many are open. */
  readonly exhausted: Rate;
  /** Refused calls in a row that end a stranger's connection. */
  readonly refusals: number;
}

/** What holds where nothing else is said. */
export const CONNECTION_LIMITS: ConnectionLimits = {
  total: 2_000,
  reserved: 200,
  perCaller: 200,
  arrivals: { burst: 64, perSecond: 25 },
  takenBack: { burst: 250, perSecond: 25 },
  exhausted: { burst: 512, perSecond: 64 },
  strangers: 1_024,
  begun: 128,
  burst: 256,
  perSecond: 128,
  penalty: 64,
  refusals: 32,
  bytesPerSweep: 128 << 10,
  bytesWhileVerified: 1 << 20,
  idleMs: 60_000,
};

const SWEEP_MS = 250;
/** So many callers are remembered, by what they did last. */
const CALLERS = 1_000;

/** Keeps count of connections, and chooses which gives way. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #all = new Set<Connection>();
  readonly #strangers: Strangers;
  readonly #ofCaller = new Map<string, Set<Connection>>();
  readonly #arrivals: Buckets;
  readonly #takenBack: Buckets;
  readonly #exhausted: Buckets;
  /** While there is somebody to look after. */
  #sweeping: NodeJS.Timeout | undefined;
  #callers = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
    this.#strangers = new Strangers(limits);
    this.#arrivals = new Buckets(limits.arrivals, CALLERS);
    this.#takenBack = new Buckets(limits.takenBack, CALLERS);
    this.#exhausted = new Buckets(limits.exhausted, CALLERS);
  }

  /** Takes a new connection in, for which another may give way; undefined where none does. */
  open(socket: Socket): Connection | undefined {
    if (this.#all.size >= this.#limits.total && !this.#makeRoom()) return void socket.destroy();
    const connection = new Connection(socket);
    this.#strangers.arrive(connection);
    this.#all.add(connection);
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
    socket.once("close", () => {
      this.#all.delete(connection);
      this.#strangers.leave(connection);
      this.#forget(connection);
    });
    return connection;
  }

  /** Calls `then` when it is the turn of a connection to be read. */
  begin(connection: Connection, then: () => void): void {
    this.#strangers.begin(connection, then);
  }

  /** Somebody with a good credential called. @param isOurs one of our own processes did. */
  known(connection: Connection, caller: Caller, isOurs: boolean): void {
    connection.refusals = 0;
    if (connection.caller !== undefined && !(isOurs && connection.caller !== "")) return;
    const name = isOurs ? "" : caller.keyId || caller.account?.id || caller.id;
    // To begin with it was no stranger's business.
    if (!this.#strangers.leave(connection)) this.#forget(connection);
    else if (isOurs || this.#arrivals.take(name) === 0) {
      this.#strangers.charge(connection.address, -1);
    }
    connection.caller = name;
    if (isOurs) {
      connection.widen();
      return;
    }
    const own = this.#ofCaller.get(name) ?? new Set();
    this.#ofCaller.set(name, own.add(connection));
    this.#callers++;
    if (own.size > this.#limits.perCaller) this.#giveWay(own, connection);
    else if (this.#callers > this.#limits.total - this.#limits.reserved) this.#giveWay(this.#all, connection);
  }

  /** Whether strangers of the connection's address may do one thing more; always where it is no stranger's. */
  allows({ caller, address }: Connection): boolean {
    return caller !== undefined || this.#strangers.allows(address);
  }

  /** A call was refused for who made it: a stranger who goes on so is hung up on. */
  refused(connection: Connection): void {
    connection.refusals++;
    if (connection.caller !== undefined) return;
    const mayMore = this.#strangers.charge(connection.address, 1);
    if (connection.refusals >= this.#limits.refusals || !mayMore) this.flooded(connection);
  }

  /** A call was taken back, for which everything was done already: strangers and callers may do so only so often. */
  takenBack(connection: Connection): void {
    const { caller } = connection;
    if (caller === "") return;
    if (caller === undefined) {
      this.refused(connection);
      return;
    }
    if (this.#takenBack.take(caller) > 0) this.flooded(connection);
  }

  /**
   * A caller's call was refused because too many are open, waits behind as many, or was abandoned because
   * too much is unread. Each costs as much as a short call, and a client whose window is 0 is told and
   * repeats it all the same: their number is limited for each caller.
   */
  exhausted(connection: Connection): void {
    const { caller } = connection;
    if (caller === undefined || caller === "") return;
    if (this.#exhausted.take(caller) > 0) this.flooded(connection);
  }

  /** Hangs up on a connection, at the cost of its address. */
  flooded(connection: Connection): void {
    if (connection.isLeft) return;
    this.#strangers.charge(connection.address, this.#limits.penalty);
    connection.hangUp();
  }

  /** Stops looking after them. */
  close(): void {
    clearInterval(this.#sweeping);
    this.#strangers.close();
  }

  #sweep(): void {
    this.#strangers.sweep((one) => this.flooded(one));
    for (const connections of this.#ofCaller.values()) {
      for (const one of connections) {
        const sent = one.sent();
        if (one.calls === 0 && sent > this.#limits.bytesPerSweep) this.flooded(one);
      }
    }
    // Those of our own processes are not looked after.
    if (this.#ofCaller.size > 0 || this.#strangers.isCounting) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }

  /** A stranger gives way first, of the address that has most of them; then who has no call open. */
  #makeRoom(): boolean {
    const victim = this.#strangers.oldestOfMost() ?? idleOf(this.#all);
    victim?.socket.destroy();
    return victim !== undefined && this.#all.delete(victim);
  }

  #giveWay(among: ReadonlySet<Connection>, last: Connection): void {
    const idle = idleOf(among);
    if (idle === undefined) this.flooded(last);
    else idle.hangUp();
  }

  #forget(connection: Connection): void {
    const own = connection.caller === undefined ? undefined : this.#ofCaller.get(connection.caller);
    if (own === undefined || !own.delete(connection)) return;
    this.#callers--;
    if (own.size === 0) this.#ofCaller.delete(connection.caller as string);
  }
}

/** The one that has been there longest without a call open; never one of our own processes. */
function idleOf(connections: ReadonlySet<Connection>): Connection | undefined {
  for (const connection of connections) if (connection.calls === 0 && connection.caller !== "") return connection;
  return undefined;
}
