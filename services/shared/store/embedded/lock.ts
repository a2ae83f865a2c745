import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";

const KEY = "holder";
/** What fits a socket's address on every system; a longer path would be cut without a word. */
const MAX_SOCKET_PATH = 100;
const DEAD: ReadonlySet<string | undefined> = new Set(["ENOENT", "ECONNREFUSED", "EINVAL"]);

/** A data directory held against other processes. */
export interface Lock {
  release(): Promise<void>;
}

/**
 * Takes a data directory for this process. The holder listens on a socket
 * whose path is recorded in the database: it ends with the process however
 * that ends, and neither process ids nor restarts of a container can deceive
 * it. The record changes hands in a transaction, so that of two processes that
 * find a dead holder one wins. Throws when a living process holds it.
 */
export async function lockDirectory(dir: string, root: RootDatabase): Promise<Lock> {
  const holder: Database<string, string> = root.openDB("lock", { encoding: "string" });
  const name = `lock-${randomBytes(8).toString("hex")}.sock`;
  const server = await listenIn(dir, name);
  let expected: string | undefined;
  for (;;) {
    const current = replace(holder, expected, name);
    if (current === expected) {
      if (current !== undefined) await Promise.all(placesOf(dir, current).map((path) => rm(path, { force: true })));
      return { release: () => closed(server) };
    }
    if (await isHeld(dir, current)) {
      await closed(server);
      throw new Error(
        `the data directory ${dir} is in use by another process; stop that process or choose another directory`,
      );
    }
    expected = current;
  }
}

/** Writes the next holder if the current one is as expected; returns the current one. */
function replace(holder: Database<string, string>, expected: string | undefined, next: string): string | undefined {
  return holder.transactionSync(() => {
    const current = holder.get(KEY);
    if (current === expected) holder.putSync(KEY, next);
    return current;
  });
}

/** Throws what the last place answered. */
async function listenIn(dir: string, name: string): Promise<Server> {
  const [first, ...rest] = placesOf(dir, name);
  return rest.reduce((server, path) => server.catch(() => listen(path)), listen(first));
}

/** In the directory or, where its path is too long for a socket or its disk has no sockets, with the temporary files. */
function placesOf(dir: string, name: string): [string, ...string[]] {
  const [inside, temporary] = [join(dir, name), join(tmpdir(), `sallyport-${name}`)];
  return Buffer.byteLength(inside) <= MAX_SOCKET_PATH ? [inside, temporary] : [temporary];
}

async function isHeld(dir: string, name: string | undefined): Promise<boolean> {
  if (name === undefined) return false;
  const answers = await Promise.all(placesOf(dir, name).map(isAlive));
  return answers.includes(true);
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    server.once("error", reject);
    server.listen(path, () => resolve(server));
  });
}

function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    // Only these say that nobody listens; a busy holder may well fail otherwise.
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(!DEAD.has(error.code)));
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
