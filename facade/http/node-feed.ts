import { createServer } from "node:http";
import { Socket } from "node:net";

/** So many bytes the parser is given at a time, where they may hold more than one request. */
const SLICE_BYTES = 1 << 10;

const UNKNOWN_NODE = `EDGE=node does not work with Node ${process.versions.node}, because its node:http reads sockets differently: use Node 20, 22, 24 or 26`;

/** @throws Error where this Node's node:http does not listen to what sockets bring: nothing could be served. */
export function checkFeeding(): void {
  const socket = new Socket();
  createServer().emit("connection", socket);
  const listens = socket.listenerCount("data") > 0;
  socket.destroy();
  if (!listens) throw new Error(UNKNOWN_NODE);
}

/** What is asked of a connection before more of it is read. */
export interface Feeding {
  /** Nothing more is read. */
  readonly isOver: boolean;
  /** A request waits for the answer to the one before it. */
  readonly isCrowded: boolean;
  /** Bytes to come that surely are of a body; 0 where nobody knows. */
  readonly bodyLeft: number;
}

/**
 * Hands the bytes of a socket to node:http in slices. Its parser makes every
 * request that a packet holds, thousands of them, before anybody can say that
 * one was too many; between two slices it can be said. Behind a request that
 * waits for another's answer nothing is read until the next turn of the event loop.
 */
export function feedInSlices(socket: Socket, feeding: Feeding): void {
  // Of node:http: see checkFeeding. It is called where the socket is not read past JavaScript, which any further listener ends.
  const [parse] = socket.listeners("data") as [(bytes: Buffer) => void];
  socket.removeListener("data", parse);
  let waits = false;
  const putBack = (bytes: Buffer): void => {
    socket.pause();
    socket.unshift(bytes);
  };
  socket.on("data", (bytes: Buffer) => {
    // node:http resumes what it did not pause.
    if (waits) return putBack(bytes);
    for (let at = 0; at < bytes.byteLength; ) {
      if (feeding.isOver) return void socket.pause();
      // By node:http: it goes on itself.
      if (socket.isPaused()) return putBack(bytes.subarray(at));
      if (feeding.isCrowded) {
        waits = true;
        setImmediate(() => {
          waits = false;
          socket.resume();
        });
        return putBack(bytes.subarray(at));
      }
      const end = at + Math.max(SLICE_BYTES, feeding.bodyLeft);
      parse(bytes.subarray(at, end));
      at = end;
    }
  });
}
