import { connect, type Socket } from "node:net";

/** One request, ready to send. */
export function requestBytes(path: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const lines = Object.entries({
    host: "127.0.0.1",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
}

const CONNECTIONS = 16;

/** A closed loop over keep-alive connections: each sends its next request when it has its answer. Resolves to the number of answers. */
export async function load(port: number, request: Buffer, ms: number, connections = CONNECTIONS): Promise<number> {
  const end = performance.now() + ms;
  const counts = await Promise.all(Array.from({ length: connections }, () => loop(port, request, end)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** One closed loop; resolves to the milliseconds that each answer took. */
export async function times(port: number, request: Buffer, ms: number): Promise<number[]> {
  const took: number[] = [];
  let sent = performance.now();
  await loop(port, request, sent + ms, () => {
    const now = performance.now();
    took.push(now - sent);
    sent = now;
  });
  return took;
}

/** Sends one request and resolves to the body of its answer. */
export function once(port: number, request: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const answers = new Answers((body) => {
      socket.destroy();
      resolve(Buffer.from(body));
    });
    socket.on("data", (chunk) => answers.push(chunk));
    socket.on("error", reject);
    socket.write(request);
  });
}

function loop(port: number, request: Buffer, end: number, answered?: () => void): Promise<number> {
  return new Promise((resolve, reject) => {
    let count = 0;
    const socket: Socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    const answers = new Answers(() => {
      count++;
      answered?.();
      if (performance.now() < end) return void socket.write(request);
      socket.destroy();
      resolve(count);
    });
    socket.on("data", (chunk) => answers.push(chunk));
    socket.on("error", reject);
    socket.write(request);
  });
}

/** Finds the ends of answers by their Content-Length; anything but 200 is a fault of the benchmark. */
class Answers {
  private head: Buffer = Buffer.alloc(0);
  private body: Buffer[] | undefined;
  private missing = 0;

  constructor(private readonly done: (body: Buffer) => void) {}

  push(chunk: Buffer): void {
    let rest = chunk;
    if (this.body === undefined) {
      this.head = this.head.length === 0 ? chunk : Buffer.concat([this.head, chunk]);
      const at = this.head.indexOf("\r\n\r\n");
      if (at === -1) return;
      const head = this.head.toString("latin1", 0, at);
      if (!head.startsWith("HTTP/1.1 200")) throw new Error(`unexpected answer: ${this.head.toString()}`);
      this.missing = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      this.body = [];
      rest = this.head.subarray(at + 4);
      this.head = Buffer.alloc(0);
    }
    this.missing -= rest.length;
    this.body.push(rest);
    if (this.missing > 0) return;
    const body = this.body;
    this.body = undefined;
    this.done(body.length === 1 ? (body[0] as Buffer) : Buffer.concat(body));
  }
}
