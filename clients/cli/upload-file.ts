import { open } from "node:fs/promises";
import type { Client } from "@connectrpc/connect";
import type { Document } from "#proto/core/v1/document_service_pb.js";
import type { DocumentUploadService } from "#proto/core/v1/document_upload_service_pb.js";
import { described, type FileToAdd } from "./files-to-add.js";
import { patiently } from "./patiently.js";

/** Bytes of a piece, as the service takes them. */
const PIECE = 2 ** 20;

/** What became of a file. */
export interface Uploaded {
  readonly document: Document;
  /** The knowledge base had its content before. */
  readonly wasThere: boolean;
}

/**
 * Sends a file to a knowledge base, from where an earlier call left it. Each call can be made again.
 *
 * @param sent hears how many bytes are there, of how many.
 * @throws UnfitFileError, ConnectError
 */
export async function uploadFile(
  client: Client<typeof DocumentUploadService>,
  knowledgeBaseId: string,
  { path, name }: FileToAdd,
  sent: (bytes: number, of: number) => void,
): Promise<Uploaded> {
  const { type, bytes, sha256 } = await described(path);
  const begun = await patiently(() => client.beginUpload({ knowledgeBaseId, name, type, bytes, sha256 }));
  if (begun.document !== undefined) {
    sent(bytes, bytes);
    return { document: begun.document, wasThere: true };
  }
  const { uploadId } = begun;
  const file = await open(path);
  try {
    for (let offset = begun.receivedBytes; offset < bytes; offset += PIECE) {
      sent(offset, bytes);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(PIECE), 0, PIECE, offset);
      const data = buffer.subarray(0, bytesRead);
      await patiently(() => client.appendUpload({ uploadId, offset, data }));
    }
  } finally {
    await file.close();
  }
  const { document } = await patiently(() => client.finishUpload({ uploadId }));
  sent(bytes, bytes);
  return { document: document as Document, wasThere: false };
}
