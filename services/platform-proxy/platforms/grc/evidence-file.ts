import type { MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type {
  ReadEvidenceFileRequest,
  ReadEvidenceFileResponseSchema,
  UploadEvidenceFileRequest,
} from "#proto/grc/v1/evidence_service_pb.js";
import { failedPrecondition, invalidArgument, permissionDenied } from "../../../shared/rpc/errors.js";
import type { PlatformFile } from "../../adapter.js";
import { leftOpen } from "../../lib/outcome.js";
import type { Platform } from "../../platform.js";
import { EVIDENCE, REVISIONS, readEvidence, type UpstreamEvidence } from "./evidence.js";
import { mayIn, readOwned, readShared, type Tenant } from "./tenancy.js";
import { fileNameOf } from "./upstream.js";
import { create } from "./writes.js";

/** Bytes of a file that is sent. */
const MAX_BYTES = 256 << 10;
/** Bytes of a part that is read, where the caller does not say. */
const PART_BYTES = 16 << 10;
/** What the platform takes (core/validators.py of CISO Assistant); asked of it after a version was made, it would refuse too late. */
const EXTENSIONS = new Set(
  "7z csv doc docx eml gif gz jpeg jpg json log md mov mp4 msg odt ods pdf png ppt pptx svg tar toml txt webp xls xlsx xml yaml yml zip".split(
    " ",
  ),
);

/**
 * Puts a file onto evidence. The platform replaces the file of a version, and
 * forgets the one before: so what has a file or a link gets a new version. Of
 * files that it gets at once for one version, it may keep none.
 */
export async function uploadEvidenceFile(r: UploadEvidenceFileRequest, platform: Platform, tenant: Tenant) {
  const before = await readOwned<UpstreamEvidence>(platform, EVIDENCE, r.evidenceId, "evidence_id", tenant);
  const extension = r.fileName.split(".").at(-1)!.toLowerCase();
  if (!EXTENSIONS.has(extension)) {
    throw invalidArgument(
      `file_name: CISO Assistant does not accept .${extension} files; it accepts ${[...EXTENSIONS].join(", ")}`,
    );
  }
  // It takes the extension out wherever it stands, and fails over a name of which nothing is left.
  if (!/[\p{L}\p{N}_-]/u.test(r.fileName.replaceAll(extension, ""))) {
    throw invalidArgument("file_name: a file name needs more than its extension; give another name");
  }
  // Whole base64 comes in fours. Decoded all the same, a file that was cut would be stored cut.
  if (r.contentBase64.length % 4 !== 0) {
    throw invalidArgument("content_base64: is cut or lacks its padding; send the whole content in base64");
  }
  const bytes = Buffer.from(r.contentBase64, "base64");
  if (bytes.length > MAX_BYTES)
    throw invalidArgument(
      `content_base64: the file is larger than ${MAX_BYTES >> 10} KiB; upload it in CISO Assistant itself`,
    );
  const folder = before.folder.id!;
  const isNewVersion = before.attachment !== null || before.link !== null;
  const needed = isNewVersion ? ["change_evidence", "add_evidencerevision"] : ["change_evidence"];
  for (const right of needed) {
    if (await mayIn(platform, folder, right)) continue;
    throw permissionDenied(
      `you lack the right ${right} in the domain of this evidence; ask the administrator of CISO Assistant for it`,
    );
  }
  const at = isNewVersion ? `${REVISIONS}${await addVersion(r, before, platform)}/` : `${EVIDENCE}${before.id}/`;
  const file = { name: r.fileName, bytes };
  await platform.rest({ verb: "POST", path: `${at}upload/`, file }).catch((error: unknown) => {
    throw isNewVersion ? withoutFile(error) : error;
  });
  return { ...(await readBack(platform, before.id, tenant)), newVersion: isNewVersion };
}

function addVersion(r: UploadEvidenceFileRequest, { id, folder }: UpstreamEvidence, platform: Platform) {
  const body = { evidence: id, folder: folder.id, observation: r.versionNote };
  return create(platform, REVISIONS, body);
}

async function readBack(platform: Platform, id: string, tenant: Tenant) {
  const evidence = await readEvidence(platform, id, tenant);
  if (evidence.fileName === undefined) {
    throw leftOpen(failedPrecondition("CISO Assistant accepted the file but shows no file; read the evidence again"));
  }
  return { evidence };
}

/** A version was made, and the file for it was refused or lost. */
function withoutFile(error: unknown): unknown {
  if (!(error instanceof ConnectError)) return error;
  const told = `${error.rawMessage}; a new version exists now, probably without the file, so read the evidence`;
  return new ConnectError(told, error.code, undefined, undefined, error.cause);
}

/** Reads a part of the file of the latest version. */
export async function readEvidenceFile(
  r: ReadEvidenceFileRequest,
  platform: Platform,
  tenant: Tenant,
): Promise<MessageInitShape<typeof ReadEvidenceFileResponseSchema>> {
  const evidence = await readShared<UpstreamEvidence>(platform, EVIDENCE, r.evidenceId, "evidence_id", tenant);
  const fileName = fileNameOf(evidence.attachment);
  // Asked for one that is not there, the platform fails.
  if (fileName === undefined) {
    throw failedPrecondition("the latest version of this evidence has no file; get_evidence shows its link");
  }
  const path = `${EVIDENCE}${evidence.id}/attachment/`;
  const { bytes, mediaType } = await platform.rest<PlatformFile>({ verb: "GET", path, isFile: true });
  if (r.offset > 0 && r.offset >= bytes.length) {
    throw invalidArgument(
      `offset: the file has only ${bytes.length} bytes; give a smaller offset, or 0 for the first part`,
    );
  }
  const end = Math.min(bytes.length, r.offset + (r.maxBytes ?? PART_BYTES));
  const text = isText(bytes) ? textOf(bytes, r.offset, end) : undefined;
  const next = text?.end ?? end;
  return {
    fileName,
    mediaType,
    size: bytes.length,
    ...(text === undefined
      ? { contentBase64: Buffer.from(bytes.subarray(r.offset, end)).toString("base64") }
      : { text: text.text }),
    ...(next < bytes.length && { nextOffset: next }),
  };
}

const CONTINUES = 0b1000_0000;

/** The text between two bytes, less the beginning of a letter that goes on after them. */
function textOf(bytes: Uint8Array, start: number, end: number) {
  let last = end;
  while (last < bytes.length && last > start + 1 && (bytes[last]! & 0b1100_0000) === CONTINUES) last--;
  return { text: new TextDecoder().decode(bytes.subarray(start, last)), end: last };
}

/** Whether a file is text in UTF-8, without what only files of programs hold. */
function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
