import { randomUUID } from "node:crypto";
import { detail, ok, type Reply } from "../replies.js";
import { may } from "../rights.js";
import { type Row, timestamp } from "../world.js";
import { addVersion, latest } from "./evidence.js";
import type { View } from "./kind.js";

/** Extensions that the platform takes, with the media types that Python guesses for them. */
const TYPES: Readonly<Record<string, string>> = {
  ...{ jpg: "image/jpeg", jpeg: "image/jpeg", png: "image/png", gif: "image/gif", webp: "image/webp" },
  ...{ svg: "image/svg+xml", mp4: "video/mp4", mov: "video/quicktime" },
  ...{ txt: "text/plain", log: "text/plain", md: "text/markdown", csv: "text/csv", xml: "text/xml" },
  ...{ json: "application/json", yaml: "application/yaml", yml: "application/yaml", toml: "application/toml" },
  ...{ pdf: "application/pdf", doc: "application/msword", msg: "application/vnd.ms-outlook", eml: "message/rfc822" },
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ...{ ppt: "application/vnd.ms-powerpoint", xls: "application/vnd.ms-excel" },
  odt: "application/vnd.oasis.opendocument.text",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  ...{ zip: "application/zip", "7z": "application/x-7z-compressed", tar: "application/x-tar", gz: "application/gzip" },
};

/** Puts a file in place of that of a version, or of the latest of evidence, which gets its first where it has none. */
export function uploadTo(id: string, disposition: string, bytes: Uint8Array, view: View): Reply {
  const { world, user } = view;
  const version = world.get("evidence-revisions", id);
  const evidence = world.get("evidences", version?.evidence ?? id);
  if (evidence === undefined || !may(world, user, "change_evidence", evidence.folder)) return detail(404, "Not found.");
  const row = version ?? latest(evidence, world) ?? addVersion(evidence, {}, world, randomUUID(), timestamp());
  const encoded = /filename\*=UTF-8''([^;]+)/.exec(disposition)?.[1];
  if (encoded === undefined) return { status: 200 };
  const name = decodeURIComponent(encoded);
  const extension = name.split(".").at(-1)!.toLowerCase();
  if (!Object.hasOwn(TYPES, extension)) {
    const allowed = Object.keys(TYPES).join(", ");
    return detail(400, `Unsupported file extension '.${extension}'. Allowed extensions: ${allowed}`);
  }
  const kept = nameOf(name, extension);
  if (kept === undefined) return { status: 400, html: "<h1>Bad Request (400)</h1>" };
  row.attachment = `${kept}.${extension}`;
  row.size = sizeOf(bytes.length);
  row.content = Buffer.from(bytes).toString("base64");
  row.updated_at = timestamp();
  return { status: 200 };
}

/** Hands out the file of the latest version. */
export function attachmentOf(id: string, view: View): Reply {
  const evidence = view.world.get("evidences", id);
  if (evidence === undefined || !view.sees("evidences", evidence)) return { status: 403 };
  const row: Row | undefined = latest(evidence, view.world);
  if (typeof row?.attachment !== "string") return { status: 404 };
  const mediaType = TYPES[row.attachment.split(".").at(-1)!] ?? "application/octet-stream";
  return { ...ok(null), file: { bytes: Buffer.from(String(row.content ?? ""), "base64"), mediaType } };
}

/**
 * The platform takes the extension out wherever it stands in a name, and makes
 * a file name and then a slug of the rest; undefined where that leaves no name.
 */
function nameOf(name: string, extension: string): string | undefined {
  const rest = name.replaceAll(extension, "").trim().replaceAll(" ", "_");
  const valid = rest.replace(/[^-\p{L}\p{N}_.]/gu, "");
  if (["", ".", ".."].includes(valid)) return undefined;
  return valid
    .normalize("NFKD")
    .replace(/[^\x20-\x7e]/g, "")
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .replace(/[-\s]+/g, "-")
    .replace(/^[-_]+|[-_]+$/g, "");
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
