import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** How long a connection may take to open, in milliseconds. */
const CONNECT_MS = 10_000;
/** How long a connection is silent until the system asks whether the server is still there, in milliseconds. */
const SILENT_MS = 60_000;

/** A connection took too long to open. */
export class ConnectTimeout extends Error {}

/** What is heard of a socket. */
export interface Ears {
  readonly open: () => void;
  /** The bytes are valid during the call. */
  readonly came: (bytes: Buffer) => void;
  /** Called once, at the end. */
  readonly closed: (error: Error | undefined) => void;
  /** A session of TLS that a later connection can resume. */
  readonly session: (session: Buffer) => void;
}

/** How a socket is opened. */
export interface SocketOptions {
  readonly url: URL;
  /** The name that the server's certificate has to have. */
  readonly name: string;
  readonly session: Buffer | undefined;
  /** Where all reads go: new memory for each would cost more than to read it. */
  readonly memory: Buffer;
}

/** Opens a connection to the host of a URL, over TLS if it says https. */
export function openSocket({ url, name, session, memory }: SocketOptions, ears: Ears): Socket {
  const isSecure = url.protocol === "https:";
  const common = {
    host: hostOf(url.hostname),
    port: Number(url.port) || (isSecure ? 443 : 80),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: SILENT_MS,
    onread: {
      buffer: memory,
      callback: (length: number, bytes: Uint8Array) => {
        ears.came((bytes as Buffer).subarray(0, length));
        return true;
      },
    },
  };
  const host = hostOf(name);
  const secure = {
    servername: isIP(host) === 0 ? host : "",
    ALPNProtocols: ["http/1.1"],
    ...(session !== undefined && { session }),
  };
  const socket = isSecure ? connectTls({ ...common, ...secure }) : connectTcp(common);
  let why: Error | undefined;
  const late = setTimeout(
    () => socket.destroy(new ConnectTimeout(`no connection within ${CONNECT_MS / 1_000} s`)),
    CONNECT_MS,
  );
  socket.once(isSecure ? "secureConnect" : "connect", () => {
    clearTimeout(late);
    ears.open();
  });
  socket.on("session", ears.session);
  socket.on("error", (error) => {
    why = error;
  });
  const closed = (): void => {
    clearTimeout(late);
    socket.off("end", closed).off("close", closed);
    ears.closed(why);
  };
  // A server that ended its side answers no more, though it might still read.
  socket.on("end", closed).on("close", closed);
  return socket;
}

/** An address of IPv6 is in brackets in a URL, and a host may have its port behind it. */
const hostOf = (name: string): string => /^\[(.*)\]/.exec(name)?.[1] ?? name.replace(/:\d+$/, "");
