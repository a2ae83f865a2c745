import { connect, type Socket } from "node:net";
import { Answers, type HttpAnswer } from "./answers.js";

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

/** Bytes of a request's body. */
export const bodyBytes = (request: Buffer): number => request.length - request.indexOf("\r\n\r\n") - 4;

const CONNECTIONS = 16;

/** What a closed loop sends, and what it must receive. */
export interface Loop {
  readonly port: number;
  /** Each connection sends one of them again and again. */
  readonly requests: readonly Buffer[];
  readonly connections?: number;
  /** The status of every answer; another one is a fault of the benchmark. */
  readonly status?: number;
  /** Microseconds from an answer to the next request of its connection; if omitted, none. */
  readonly pauseUs?: number;
}

/**
 * A closed loop over keep-alive connections: each sends its next request when it has its answer, or after a pause.
 * Resolves to the number of answers.
 */
export async function load(
  { port, requests, connections = CONNECTIONS, status = 200, pauseUs = 0 }: Loop,
  ms: number,
): Promise<number> {
  const each = { end: performance.now() + ms, status, pauseUs };
  const counts = await Promise.all(
    Array.from({ length: connections }, (_, i) => loop(port, requests[i % requests.length] as Buffer, each)),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** One closed loop; resolves to the milliseconds that each answer took. */
export async function times(port: number, request: Buffer, ms: number): Promise<number[]> {
  const took: number[] = [];
  let sent = performance.now();
  const answered = (): void => {
    const now = performance.now();
    took.push(now - sent);
    sent = now;
  };
  await loop(port, request, { end: sent + ms, status: 200, pauseUs: 0 }, answered);
  return took;
}

/** Sends one request and resolves to its answer. */
export function once(port: number, request: Buffer): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const answers = new Answers((answer) => {
      socket.destroy();
      resolve(answer);
    }, true);
    socket.on("data", (bytes) => answers.push(bytes));
    socket.on("error", reject);
    socket.write(request);
  });
}

function loop(
  port: number,
  request: Buffer,
  { end, status, pauseUs }: { readonly end: number; readonly status: number; readonly pauseUs: number },
  answered?: () => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let count = 0;
    const socket: Socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    const fail = (why: string): void => {
      socket.destroy();
      reject(new Error(why));
    };
    // No timer is that short, and none may delay the answers of other connections.
    const sendAt = (due: number): void => {
      if (performance.now() < due) setImmediate(sendAt, due);
      else if (!socket.destroyed) socket.write(request);
    };
    const answers = new Answers((answer) => {
      if (answer.status !== status) return fail(`an answer has status ${answer.status} instead of ${status}`);
      count++;
      answered?.();
      const now = performance.now();
      if (now < end) return sendAt(now + pauseUs / 1_000);
      socket.destroy();
      resolve(count);
    });
    socket.on("data", (bytes) => answers.push(bytes));
    socket.on("error", reject);
    socket.on("close", () => fail(`the server closed a connection after ${count} answers`));
    socket.write(request);
  });
}
