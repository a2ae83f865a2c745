import { toBinary } from "@bufbuild/protobuf";
import { ExportTraceServiceRequestSchema } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { moving, serveThread } from "../../../../services/shared/process/thread.js";
import { boundsOf } from "../../../../services/shared/rpc/bounds.js";
import { checkWire } from "../../../../services/shared/rpc/wire.js";
import { type Cut, cutExport, type Encoding } from "../cut.js";
import { decodeExport } from "../decode.js";
import { unpacked } from "../unpack.js";

/** A body that comes piece by piece. */
interface Coming {
  readonly encoding: Encoding;
  readonly pieces: WritableStreamDefaultWriter<Uint8Array>;
  readonly cut: Promise<Cut>;
  /** Bytes of it that are kept. */
  kept: number;
}

const SCHEMA = ExportTraceServiceRequestSchema;
const coming = new Map<number, Coming>();

const methods = {
  begin({ id, encoding, isPacked }: { readonly id: number; readonly encoding: Encoding; readonly isPacked: boolean }) {
    // A piece is taken when the one before it is used up.
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({}, { highWaterMark: 1 });
    const body = readable as unknown as AsyncIterable<Uint8Array>;
    const count = (bytes: number, isKept: boolean): void => {
      if (isKept) one.kept += bytes;
    };
    const cut = Promise.resolve().then(() => cutExport(isPacked ? unpacked(body) : body, encoding, count));
    // The error is told when the next piece arrives.
    cut.catch(() => undefined);
    const one: Coming = { encoding, pieces: writable.getWriter(), cut, kept: 0 };
    coming.set(id, one);
  },

  /** Takes the next piece; says how many bytes are kept by now. @throws ConnectError as cutExport does. */
  async push({ id, piece }: { readonly id: number; readonly piece: Uint8Array }): Promise<number> {
    const { pieces, cut } = of(id);
    await Promise.race([pieces.write(piece).catch(() => cut), cut]);
    return of(id).kept;
  },

  /** All of it has come; says how many bytes are kept. @throws ConnectError as cutExport does. */
  async end(id: number): Promise<number> {
    const { pieces, cut } = of(id);
    pieces.close().catch(() => undefined);
    await cut;
    return of(id).kept;
  },

  /** The whole export as protobuf. @throws ConnectError as decodeExport does. */
  async finish(id: number): Promise<Cut> {
    const { cut, encoding } = of(id);
    const { bytes, left } = await cut;
    coming.delete(id);
    if (encoding === "protobuf") checkWire(SCHEMA, bytes, boundsOf(SCHEMA));
    const written = encoding === "protobuf" ? bytes : toBinary(SCHEMA, decodeExport(bytes, encoding));
    return moving({ bytes: written, left }, written);
  },

  /** No more of it will come. */
  leave(id: number): void {
    coming
      .get(id)
      ?.pieces.abort()
      .catch(() => undefined);
    coming.delete(id);
  },
};

/** What the thread answers to. */
export type ReadingMethods = typeof methods;

function of(id: number): Coming {
  const one = coming.get(id);
  if (one === undefined) throw new Error(`no export ${id} has begun`);
  return one;
}

serveThread(methods);
