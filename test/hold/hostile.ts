import { connect, type Socket } from "node:net";

/** Where an attack goes, and what it has. */
export interface Target {
  readonly host: string;
  /** The façade's port for kinds of HTTP, the gRPC port for those of gRPC. */
  readonly port: number;
  /** The address that it comes from; "" for whichever the system gives. */
  readonly from: string;
  /** A good key of its own, for the kinds that have one. */
  readonly key: string;
}

/** One hostile connection. */
export interface Attack {
  /** Called once, when the connection is open, or has ended before it was. */
  onBegun(listener: () => void): void;
  /** Called once, when the connection has ended, whoever ended it. */
  onEnd(listener: () => void): void;
  /** What it was told so far, shortened: a status, a reset; for the report. */
  readonly told: string;
  /** Ends it. */
  close(): void;
}

/** Opens one hostile connection of a kind. */
export type Hostile = (target: Target) => Attack;

/** Says what a connection over HTTP/1.1 does once it is open; `every` repeats something until it has ended. */
export type Behaviour = (socket: Socket, target: Target, every: (ms: number, action: () => void) => void) => void;

/** A hostile connection that writes by hand and reads, unless it paused itself, what it is told. */
export function overTcp(behave: Behaviour): Hostile {
  return (target) => {
    const { host, port, from } = target;
    const socket = connect({ host, port, noDelay: true, ...(from !== "" && { localAddress: from }) });
    const timers: NodeJS.Timeout[] = [];
    const ends: (() => void)[] = [];
    const begins: (() => void)[] = [];
    const begin = (): void => {
      for (const listener of begins.splice(0)) listener();
    };
    let told = "nothing";
    socket.on("data", (chunk) => {
      if (told === "nothing") told = chunk.toString("latin1", 0, 12).trim();
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      for (const timer of timers) clearInterval(timer);
      begin();
      for (const end of ends) end();
    });
    socket.on("connect", () => {
      behave(socket, target, (ms, action) => timers.push(setInterval(action, ms)));
      begin();
    });
    return {
      onBegun: (listener) => begins.push(listener),
      onEnd: (listener) => ends.push(listener),
      get told() {
        return told;
      },
      // Without a wait for what is still under way: so many ports that wait would slow the next ones down.
      close: () => socket.resetAndDestroy(),
    };
  };
}
