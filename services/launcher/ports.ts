import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Where a port is chosen if 0 is set: below 32768. From there on Linux gives
 * ports to outgoing connections and to other programs that ask for 0
 * (ip_local_port_range), so that one could be taken before our server listens.
 */
const [FIRST_PORT, LAST_PORT] = [16_384, 32_767];
/** The ports that are tried, if 0 is set. */
const TRIES = 100;

/**
 * Finds out which port a server will get before it starts: µWebSockets.js
 * shares ports between processes, so that a port taken by a stranger would
 * otherwise go unnoticed, and the base URL must be known beforehand.
 *
 * @param port 0 for any that is free.
 * @throws Error in one line, where the port is taken.
 */
export async function reservePort(host: string, port: number, what: string): Promise<number> {
  for (let left = port === 0 ? TRIES : 1; ; left--) {
    const tried = port === 0 ? randomInt(FIRST_PORT, LAST_PORT + 1) : port;
    try {
      await holdOnce(host, tried);
      return tried;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE") throw new Error(`cannot listen on ${host}:${tried} (${what}): ${message}`);
      if (left > 1) continue;
      throw new Error(
        `${what} ${tried} on ${host} is in use by another program: stop that program, or set another port`,
      );
    }
  }
}

/** Listens on a port and lets it go again. @throws the system's error, if nobody can. */
async function holdOnce(host: string, port: number): Promise<void> {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once("error", reject);
      probe.listen({ host, port, exclusive: true }, resolve);
    });
  } finally {
    await new Promise<void>((resolve) => probe.close(() => resolve()));
  }
}
