import { createServer } from "node:net";

/**
 * Finds out which port a server will get before it starts: µWebSockets.js
 * shares ports between processes, so that a port taken by a stranger would
 * otherwise go unnoticed, and the base URL must be known beforehand.
 *
 * @throws Error in one line, where the port is taken.
 */
export async function reservePort(host: string, port: number, what: string): Promise<number> {
  const probe = createServer();
  try {
    return await new Promise<number>((resolve, reject) => {
      probe.once("error", reject);
      probe.listen({ host, port, exclusive: true }, () => {
        const address = probe.address();
        resolve(typeof address === "object" && address !== null ? address.port : port);
      });
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      throw new Error(
        `${what} ${port} on ${host} is in use by another program: stop that program, or set another port`,
      );
    }
    throw new Error(`cannot listen on ${host}:${port} (${what}): ${message}`);
  } finally {
    await new Promise<void>((resolve) => probe.close(() => resolve()));
  }
}
