import { once } from "node:events";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { hostname as ownHostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import { type AuditReceiver, SEND_MS } from "./receiver.js";
import type { ExportedRecord } from "./record.js";

/** The port of syslog over TLS (RFC 5425 section 4.1). */
const PORT = 6514;
/** Facility 13, log audit, with the severities notice and warning (RFC 5424 section 6.2.1). */
const NOTICE = 13 * 8 + 5;
const WARNING = 13 * 8 + 4;
/** How long a receiver that refuses has to hang up, in milliseconds: its end then comes before ours, and says nothing. */
const SETTLE_MS = 250;
/** The largest value of sequenceId (RFC 5424 section 7.3.1). */
const MAX_SEQUENCE = 2_147_483_647;

/**
 * Sends records as syslog messages (RFC 5424) over TLS (RFC 5425). Each delivery is a connection of its own: syslog has
 * no acknowledgement, but a receiver answers the end of a connection with its own once it has read all of it (RFC 5425
 * section 4.4).
 */
export function syslog({ hostname, port, searchParams }: URL): AuditReceiver {
  const host = hostname.replace(/^\[|\]$/g, "");
  const files = filesOf(searchParams);
  const from = `${ownHostname() || "-"} sallyport ${process.pid}`;
  return {
    async send(records, signal) {
      const servername = isIP(host) === 0 ? host : "";
      const socket = connect({ ...files, host, port: Number(port || PORT), servername });
      const stop = (): void => void socket.destroy(new Error("the delivery was given up"));
      const late = setTimeout(() => socket.destroy(new Error(`it took longer than ${SEND_MS / 1_000} s`)), SEND_MS);
      signal.addEventListener("abort", stop);
      try {
        await deliver(socket, Buffer.concat(records.map((record) => framed(messageOf(record, from)))));
      } finally {
        clearTimeout(late);
        signal.removeEventListener("abort", stop);
        socket.destroy();
      }
    },
  };
}

/** The files that a receiver's URL names: who signs its certificate (`ca`), and ours (`cert`, `key`). */
const FILES = ["ca", "cert", "key"] as const;

/** @throws Error that names a file which cannot be read. */
function filesOf(params: URLSearchParams): Partial<Record<(typeof FILES)[number], Buffer>> {
  const given = FILES.filter((name) => params.has(name));
  return Object.fromEntries(given.map((name) => [name, readFileSync(params.get(name) as string)]));
}

async function deliver(socket: TLSSocket, bytes: Buffer): Promise<void> {
  // Who waits for an event hears of an error; one that comes later tells nothing more.
  socket.on("error", () => undefined);
  let hasEnded = false;
  socket.once("end", () => {
    hasEnded = true;
  });
  // What a receiver says is not read, and must be taken for its end to be seen.
  socket.resume();
  await once(socket, "secureConnect");
  const closed = once(socket, "close");
  await Promise.race([closed, new Promise((resolve) => socket.write(bytes, resolve))]);
  await Promise.race([closed, sleep(SETTLE_MS)]);
  if (hasEnded || socket.destroyed) throw new Error("the receiver closed the connection before it had read everything");
  socket.end();
  await closed;
  if (!hasEnded) throw new Error("the connection was lost before the receiver said that it had read everything");
}

/** One message, counted by its bytes (RFC 5425 section 4.3). */
function framed(message: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(message)} ${message}`);
}

function messageOf(record: ExportedRecord, from: string): string {
  const { number, recorded_at, kind, outcome } = record;
  const priority = outcome === "ok" || outcome === "begun" ? NOTICE : WARNING;
  const sequence = ((number - 1) % MAX_SEQUENCE) + 1;
  return `<${priority}>1 ${recorded_at} ${from} ${kind} [meta sequenceId="${sequence}"] ${ascii(record)}`;
}

/** As JSON of ASCII alone: a message of other characters would begin with a mark (RFC 5424 section 6.4). */
function ascii(record: ExportedRecord): string {
  return JSON.stringify(record).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
