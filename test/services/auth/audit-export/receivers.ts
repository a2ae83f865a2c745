import { readFileSync } from "node:fs";
import { createServer as createHttp, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createTls } from "node:tls";
import { fileURLToPath } from "node:url";

const fixture = (name: string): string => fileURLToPath(new URL(`../../../fixtures/tls/${name}`, import.meta.url));

/** A receiver that a test runs, on a port that stays the same while it is away. */
export interface TestReceiver {
  readonly port: number;
  /** The numbers of the records that it has, in the order in which they came. */
  readonly numbers: number[];
  /** What came, as it was. */
  readonly texts: string[];
  readonly headers: IncomingHttpHeaders[];
  close(): Promise<void>;
}

/** A receiver of syslog over TLS. @param drops ends a connection without reading all of it. */
export async function syslogReceiver(port = 0, drops: () => boolean = () => false): Promise<TestReceiver> {
  const texts: string[] = [];
  const numbers: number[] = [];
  const server = createTls({ cert: readFileSync(CERTIFICATE), key: readFileSync(fixture("key.pem")) }, (socket) => {
    const pieces: Buffer[] = [];
    socket.on("error", () => undefined);
    if (drops()) return void socket.destroy();
    socket.on("data", (piece) => pieces.push(piece));
    socket.on("end", () => {
      let left = Buffer.concat(pieces);
      while (left.length > 0) {
        const space = left.indexOf(" ");
        const end = space + 1 + Number(left.toString("latin1", 0, space));
        const message = left.toString("utf8", space + 1, end);
        texts.push(message);
        numbers.push((JSON.parse(message.slice(message.indexOf("{"))) as { number: number }).number);
        left = left.subarray(end);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    ...{ texts, numbers, headers: [], port: (server.address() as AddressInfo).port },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The file of its certificate, which it signed itself. */
export const CERTIFICATE = fixture("certificate.pem");

/** A receiver of OTLP logs. @param answers the status and the body of each answer. */
export async function otlpReceiver(
  port = 0,
  answers: () => readonly [number, string] = () => [200, "{}"],
): Promise<TestReceiver> {
  const texts: string[] = [];
  const numbers: number[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createHttp(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const [status, body] = answers();
    headers.push(request.headers);
    if (status === 200) {
      const text = Buffer.concat(pieces).toString();
      texts.push(text);
      numbers.push(...numbersIn(text));
    }
    response.writeHead(status, { "content-type": "application/json", connection: "close" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    ...{ texts, numbers, headers, port: (server.address() as AddressInfo).port },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

interface Logs {
  readonly resourceLogs: {
    readonly scopeLogs: {
      readonly logRecords: {
        readonly attributes: { readonly key: string; readonly value: { readonly intValue?: string } }[];
      }[];
    }[];
  }[];
}

function numbersIn(text: string): number[] {
  const { resourceLogs } = JSON.parse(text) as Logs;
  const records = resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords));
  return records.map(({ attributes }) => Number(attributes.find(({ key }) => key === "audit.number")?.value.intValue));
}
