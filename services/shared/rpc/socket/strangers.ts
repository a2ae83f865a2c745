import { Bucket, type Rate } from "../../limits/bucket.js";
import type { Connection } from "./connection.js";

/** What strangers of an address may do. */
export interface StrangerLimits extends Rate {
  /** Connections of one address by which nobody has called yet. */
  readonly strangers: number;
  /** Of them, how many are read: the others cost a socket each. */
  readonly begun: number;
  /** What it costs an address that one of its connections is hung up on. */
  readonly penalty: number;
  /** Bytes that a stranger, or a caller who has no call open, may send between two sweeps. */
  readonly bytesPerSweep: number;
  /**
   * The same of a stranger whose credential is being looked at: several exports may come before it is known who sends
   * them, each as far as its window lets it.
   */
  readonly bytesWhileVerified: number;
  /** How long a stranger may keep a connection without a call, in milliseconds. */
  readonly idleMs: number;
}

interface Address {
  readonly strangers: Set<Connection>;
  /** Those of them that are read, the first begun with first. */
  readonly begun: Set<Connection>;
  /** What is done for strangers: to begin with a connection, to refuse a call or to serve one that is public. */
  readonly bucket: Bucket;
  /** Connections that nothing is read of yet, by age. */
  readonly ready: Map<Connection, () => void>;
  takesLast: boolean;
}

/** So much may be done for an address before its connections wait for each other. */
const AT_ONCE = 4;
/** So many of them give way in a sweep, where others of their address wait to be begun with. */
const GIVE_WAY = 4;
/** One of those who wait is begun with so often, in milliseconds: a connection is accepted in each turn of the loop, and all come through there. */
const PACE_MS = 8;

/**
 * Strangers, by address. With those of an address that has asked for little it is
 * begun at once, one in a turn of the event loop. The others wait: addresses are served round and round, of each
 * the connection that came first and the one that came last by turns, so that
 * behind an address that floods others are served too. Of those that are read and
 * do not call, the oldest make room.
 */
export class Strangers {
  readonly #limits: StrangerLimits;
  readonly #addresses = new Map<string, Address>();
  /** Those of which one may be begun with, the next first. */
  readonly #queue = new Set<Address>();
  #pacing: NodeJS.Timeout | undefined;
  /** In this turn of the loop: the first packet of one connection may open a hundred streams. */
  #hasBegun = false;

  constructor(limits: StrangerLimits) {
    this.#limits = limits;
  }

  /** Of an address that has too many of them the oldest gives way. */
  arrive(connection: Connection): void {
    const { strangers } = this.#address(connection.address);
    const victim = strangers.size >= this.#limits.strangers ? oldest(strangers) : undefined;
    if (victim !== undefined) {
      this.leave(victim);
      victim.hangUp();
    }
    strangers.add(connection);
  }

  /** Calls `then` when it is the connection's turn and its address may do one thing more. */
  begin(connection: Connection, then: () => void): void {
    const address = this.#address(connection.address);
    address.ready.set(connection, then);
    this.#go(address);
  }

  /** It is no stranger's any more, or has ended. @returns whether it was one. */
  leave(connection: Connection): boolean {
    const address = this.#addresses.get(connection.address);
    address?.ready.delete(connection);
    address?.begun.delete(connection);
    return address?.strangers.delete(connection) === true;
  }

  /** Whether an address may do one thing more, which is counted. */
  allows(name: string): boolean {
    const { bucket } = this.#address(name);
    if (bucket.waitAt(performance.now()) > 0) return false;
    bucket.take();
    return true;
  }

  /** Counts what was done for an address, or less than nothing where it was in vain. @returns whether it may do more. */
  charge(name: string, acts: number): boolean {
    const address = this.#address(name);
    address.bucket.charge(acts);
    if (acts < 0) this.#go(address);
    return address.bucket.waitAt(performance.now()) === 0;
  }

  /** The oldest one, of the address that has most of them. */
  oldestOfMost(): Connection | undefined {
    let most: ReadonlySet<Connection> = new Set();
    for (const { strangers } of this.#addresses.values()) if (strangers.size > most.size) most = strangers;
    return oldest(most);
  }

  /** Whether the acts of any address are still counted. */
  get isCounting(): boolean {
    return this.#addresses.size > 0;
  }

  /** Ends those who say nothing and those who say too much, and goes on with those who wait. */
  sweep(flooded: (connection: Connection) => void): void {
    const now = performance.now();
    const { idleMs, bytesPerSweep, bytesWhileVerified } = this.#limits;
    for (const [name, address] of this.#addresses) {
      for (const connection of address.strangers) {
        const most = connection.verifying === undefined ? bytesPerSweep : bytesWhileVerified;
        if (connection.sent() > most) flooded(connection);
        else if (connection.calls === 0 && now - connection.idleSince > idleMs) connection.hangUp();
      }
      this.#giveWay(address);
      if (address.bucket.waitAt(now) === 0 && address.ready.size > 0) this.#queue.add(address);
      if (address.strangers.size === 0 && address.bucket.taken <= 0) this.#addresses.delete(name);
    }
    this.#schedule();
  }

  /** Begins with nobody any more. */
  close(): void {
    clearTimeout(this.#pacing);
    this.#queue.clear();
    this.#addresses.clear();
  }

  #address(name: string): Address {
    let address = this.#addresses.get(name);
    if (address === undefined) {
      const bucket = new Bucket(this.#limits, performance.now());
      address = { strangers: new Set(), begun: new Set(), bucket, ready: new Map(), takesLast: false };
      this.#addresses.set(name, address);
    }
    return address;
  }

  #go(address: Address): void {
    const { ready, bucket } = address;
    const now = performance.now();
    const mayBegin = !this.#hasBegun && this.#hasRoom(address) && bucket.waitAt(now) === 0;
    if (ready.size > 0 && mayBegin && bucket.taken < AT_ONCE) {
      this.#beginOne(address);
    }
    if (ready.size > 0) this.#queue.add(address);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#pacing !== undefined || this.#queue.size === 0) return;
    this.#pacing = setTimeout(() => {
      this.#pacing = undefined;
      this.#beginNext();
      this.#schedule();
    }, PACE_MS);
  }

  #beginNext(): void {
    for (const address of this.#queue) {
      this.#queue.delete(address);
      // Who has no room left, or may do no more, comes back with a sweep.
      if (address.ready.size === 0 || !this.#hasRoom(address) || address.bucket.waitAt(performance.now()) > 0) {
        continue;
      }
      this.#beginOne(address);
      if (address.ready.size > 0) this.#queue.add(address);
      return;
    }
  }

  #hasRoom({ begun }: Address): boolean {
    return begun.size < this.#limits.begun;
  }

  /** Who does not call gives way first; of those who do, one whose credential nobody is looking at. */
  #giveWay(address: Address): void {
    if (address.ready.size === 0 || this.#hasRoom(address)) return;
    const begun = [...address.begun];
    const idle = begun.filter(({ calls }) => calls === 0).slice(0, GIVE_WAY);
    const victims = idle.length > 0 ? idle : begun.filter(({ verifying }) => verifying === undefined).slice(0, 1);
    for (const connection of victims) {
      this.leave(connection);
      connection.hangUp();
    }
  }

  #beginOne(address: Address): void {
    const [connection, begin] = this.#next(address);
    address.bucket.take();
    address.ready.delete(connection);
    address.begun.add(connection);
    this.#hasBegun = true;
    setImmediate(() => {
      this.#hasBegun = false;
    });
    begin();
  }

  #next(address: Address): [Connection, () => void] {
    const byAge = [...address.ready];
    address.takesLast = !address.takesLast;
    return (address.takesLast ? byAge.at(-1) : byAge[0]) as [Connection, () => void];
  }
}

function oldest(connections: ReadonlySet<Connection>): Connection | undefined {
  const [first] = connections;
  return first;
}
