import type { Socket } from "node:net";

const PREFACE = "PRI * HTTP/2.0";
/** Bytes that tell the preface from every method of HTTP/1.1. */
const TELLING = 3;

/**
 * Tells by its first bytes what a connection speaks: HTTP/2 opens with its
 * preface (RFC 9113 section 3.4). They are put back. A connection that does not
 * say so in time is closed.
 */
export function readPreface(socket: Socket, withinMs: number, then: (isHttp2: boolean) => void): void {
  const timer = setTimeout(() => socket.destroy(), withinMs);
  socket.on("close", () => clearTimeout(timer));
  let head: Buffer = Buffer.alloc(0);
  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return void socket.destroy();
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    const isPreface = PREFACE.startsWith(head.toString("latin1", 0, Math.min(head.length, PREFACE.length)));
    // "P" alone may yet become POST.
    if (isPreface && head.length < TELLING) return void socket.once("readable", onReadable);
    clearTimeout(timer);
    socket.unshift(head);
    then(isPreface);
  };
  socket.once("readable", onReadable);
}
