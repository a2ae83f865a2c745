import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { createGunzip, gunzip } from "node:zlib";
import { invalidArgument } from "../../../services/shared/rpc/errors.js";

/**
 * What a body unpacks to, as fast as it is read.
 *
 * @throws ConnectError invalid_argument for what is not gzip.
 */
export async function* unpacked(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const unzip = createGunzip();
  // Its reader receives its errors.
  pipeline(Readable.from(body), unzip, () => undefined);
  try {
    yield* unzip as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw told(error);
  }
}

/** Unpacks a short body outside of the event loop; undefined if the result is longer than `most` bytes. */
export async function unpackedWithin(bytes: Uint8Array, most: number): Promise<Buffer | undefined> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: most });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return undefined;
    throw told(error);
  }
}

function told(error: unknown): unknown {
  if (!(error as NodeJS.ErrnoException).code?.startsWith("Z_")) return error;
  return invalidArgument("the body is not gzip, although its content-encoding says so", error);
}
