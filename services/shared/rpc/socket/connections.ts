import type { Socket } from "node:net";
import type { Caller } from "../call.js";

// Who has called with a credential that is good keeps a connection; a stranger
// keeps one for as long as there is room, and an address has only so much
// patience for what strangers do. Our own processes are never shut out.

/** How many connections there may be, and what strangers may do. */
export interface ConnectionLimits {
  /** Connections at once. */
  readonly total: number;
  /** Of them, how many are kept free of callers other than our own processes. */
  readonly reserved: number;
  /** Connections at once that one key, or user without one, has called by. */
  readonly perCaller: number;
  /** Connections of one address by which nobody has called yet. */
  readonly strangers: number;
  /** Connections of an address that wait until its patience has grown again. */
  readonly waiting: number;
  /** What strangers of an address may do at once: connect, be refused, call what is public. */
  readonly burst: number;
  /** And how often a second from then on. */
  readonly perSecond: number;
  /** Refused calls in a row that end a stranger's connection. */
  readonly refusals: number;
  /** Bytes that a stranger may send between two sweeps. */
  readonly bytesPerSweep: number;
  /** How long a stranger may keep a connection without a call, in milliseconds. */
  readonly idleMs: number;
}

/** What holds where nothing else is said. */
export const CONNECTION_LIMITS: ConnectionLimits = {
  total: 2_000,
  reserved: 200,
  perCaller: 200,
  strangers: 256,
  waiting: 64,
  burst: 256,
  perSecond: 128,
  refusals: 32,
  bytesPerSweep: 64 << 10,
  idleMs: 60_000,
};

const SWEEP_MS = 250;

/** One connection, and what is known of who is at its other end. */
export interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Calls that are open on it. */
  calls: number;
  /** Undefined for a stranger's; else the key or user that called first, "" for our own processes. */
  caller: string | undefined;
  /** Of the calls so far, how many were refused in a row. */
  refusals: number;
  /** By performance.now(): when it was opened, or its last call ended. */
  idleSince: number;
  /** Of its socket, at the last sweep. */
  bytesRead: number;
  /** Ends it in the way of its protocol. */
  hangUp: () => void;
}

interface Address {
  readonly strangers: Set<Connection>;
  readonly waiting: Map<Socket, () => void>;
  left: number;
  at: number;
}

/** Keeps count of connections, and chooses which gives way. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #all = new Set<Connection>();
  readonly #addresses = new Map<string, Address>();
  readonly #ofCaller = new Map<string, Set<Connection>>();
  readonly #sweeping: NodeJS.Timeout;
  #callers = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
    this.#sweeping = setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  /** Begins with a new connection: at once, or when its address has patience again. Some give way for it. */
  open(socket: Socket, begin: (connection: Connection) => void): void {
    const name = addressOf(socket.remoteAddress);
    const address = this.#address(name);
    if (this.#take(address)) {
      this.#begin(socket, name, address, begin);
      return;
    }
    if (address.waiting.size >= this.#limits.waiting) {
      const [oldest] = address.waiting.keys();
      oldest?.destroy();
    }
    address.waiting.set(socket, () => this.#begin(socket, name, address, begin));
    socket.once("close", () => address.waiting.delete(socket));
    socket.on("error", () => socket.destroy());
  }

  /** Somebody with a good credential called. @param isOurs one of our own processes did. */
  known(connection: Connection, caller: Caller, isOurs: boolean): void {
    connection.refusals = 0;
    if (connection.caller !== undefined && !(isOurs && connection.caller !== "")) return;
    const name = isOurs ? "" : caller.keyId || caller.id;
    const address = this.#addresses.get(connection.address);
    if (connection.caller === undefined && address?.strangers.delete(connection)) {
      address.left = Math.min(this.#limits.burst, address.left + 1);
    } else this.#forget(connection);
    connection.caller = name;
    if (isOurs) return;
    const own = this.#ofCaller.get(name) ?? new Set();
    this.#ofCaller.set(name, own.add(connection));
    this.#callers++;
    if (own.size > this.#limits.perCaller) this.#giveWay(own, connection);
    else if (this.#callers > this.#limits.total - this.#limits.reserved) this.#giveWay(this.#all, connection);
  }

  /** Whether strangers of the connection's address may do one thing more; always where it is no stranger's. */
  allows(connection: Connection): boolean {
    if (connection.caller !== undefined) return true;
    const address = this.#addresses.get(connection.address);
    return address === undefined || this.#take(address);
  }

  /** A call was refused for who made it: a stranger who goes on so is hung up on. */
  refused(connection: Connection): void {
    connection.refusals++;
    if (connection.caller !== undefined) return;
    if (connection.refusals >= this.#limits.refusals || !this.allows(connection)) connection.hangUp();
  }

  /** Every connection that is open. */
  [Symbol.iterator](): IterableIterator<Connection> {
    return this.#all.values();
  }

  /** Ends those that wait, and stops looking after the others. */
  close(): void {
    clearInterval(this.#sweeping);
    for (const { waiting } of this.#addresses.values()) for (const socket of waiting.keys()) socket.destroy();
  }

  #begin(socket: Socket, name: string, address: Address, begin: (connection: Connection) => void): void {
    if (address.strangers.size >= this.#limits.strangers) first(address.strangers)?.hangUp();
    if (this.#all.size >= this.#limits.total && !this.#makeRoom()) return void socket.destroy();
    const connection: Connection = {
      socket,
      address: name,
      calls: 0,
      caller: undefined,
      refusals: 0,
      idleSince: performance.now(),
      bytesRead: 0,
      hangUp: () => socket.destroy(),
    };
    this.#all.add(connection);
    address.strangers.add(connection);
    socket.once("close", () => {
      this.#all.delete(connection);
      address.strangers.delete(connection);
      this.#forget(connection);
    });
    begin(connection);
  }

  /** A stranger gives way first, of the address that has most of them; then who has no call open. */
  #makeRoom(): boolean {
    let crowd: Set<Connection> | undefined;
    for (const { strangers } of this.#addresses.values()) {
      if (strangers.size > (crowd?.size ?? 0)) crowd = strangers;
    }
    const victim = (crowd && first(crowd)) ?? idleOf(this.#all);
    victim?.hangUp();
    victim?.socket.destroy();
    if (victim !== undefined) this.#all.delete(victim);
    return victim !== undefined;
  }

  #giveWay(among: ReadonlySet<Connection>, last: Connection): void {
    (idleOf(among) ?? last).hangUp();
  }

  #forget(connection: Connection): void {
    const own = connection.caller === undefined ? undefined : this.#ofCaller.get(connection.caller);
    if (own === undefined || !own.delete(connection)) return;
    this.#callers--;
    if (own.size === 0) this.#ofCaller.delete(connection.caller as string);
  }

  #address(name: string): Address {
    let address = this.#addresses.get(name);
    if (address === undefined) {
      address = { strangers: new Set(), waiting: new Map(), left: this.#limits.burst, at: performance.now() };
      this.#addresses.set(name, address);
    }
    return address;
  }

  #take(address: Address): boolean {
    this.#refill(address);
    if (address.left < 1) return false;
    address.left--;
    return true;
  }

  #refill(address: Address): void {
    const now = performance.now();
    const grown = ((now - address.at) / 1_000) * this.#limits.perSecond;
    address.left = Math.min(this.#limits.burst, address.left + grown);
    address.at = now;
  }

  #sweep(): void {
    const now = performance.now();
    for (const [name, address] of this.#addresses) {
      for (const [socket, begin] of address.waiting) {
        if (!this.#take(address)) break;
        address.waiting.delete(socket);
        begin();
      }
      for (const connection of address.strangers) {
        const { bytesRead } = connection.socket;
        const isIdle = connection.calls === 0 && now - connection.idleSince > this.#limits.idleMs;
        if (isIdle || bytesRead - connection.bytesRead > this.#limits.bytesPerSweep) connection.hangUp();
        connection.bytesRead = bytesRead;
      }
      this.#refill(address);
      const isQuiet = address.strangers.size === 0 && address.waiting.size === 0;
      if (isQuiet && address.left >= this.#limits.burst) this.#addresses.delete(name);
    }
  }
}

function first(connections: ReadonlySet<Connection>): Connection | undefined {
  const [oldest] = connections;
  return oldest;
}

/** The one that has been there longest without a call open; never one of our own processes. */
function idleOf(connections: ReadonlySet<Connection>): Connection | undefined {
  for (const connection of connections) if (connection.calls === 0 && connection.caller !== "") return connection;
  return undefined;
}

/** An address as one party has it: of IPv6 the network, in which a host takes what address it likes (RFC 4291 section 2.5.4). */
export function addressOf(remote: string | undefined): string {
  if (remote === undefined) return "";
  if (!remote.includes(":") || remote.startsWith("::ffff:")) return remote.replace(/^::ffff:/, "");
  if (remote.startsWith("::")) return remote;
  const [head = ""] = remote.split("::");
  return `${head.split(":").slice(0, 4).join(":")}::/64`;
}
