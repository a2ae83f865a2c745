import { randomUUID } from "node:crypto";
import { detail, ok, type Reply } from "../replies.js";
import { may } from "../rights.js";
import { type Row, timestamp } from "../world.js";
import { addVersion, latest } from "./evidence.js";
import type { View } from "./kind.js";

/** Extensions that the platform takes, with their media types. */
const TYPES: Readonly<Record<string, string>> = {
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  json: "application/json",
  log: "text/plain",
  pdf: "application/pdf",
  png: "image/png",
  zip: "application/zip",
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
  row.attachment = `${slugOf(name.slice(0, -extension.length - 1))}.${extension}`;
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

/** As Django makes one: lower case, without what is no letter, digit, blank or dash of ASCII. */
function slugOf(name: string): string {
  const plain = name.normalize("NFKD").replace(/[^\x20-\x7e]/g, "");
  return plain
    .replace(/ /g, "_")
    .replace(/[^\w\s-]/g, "")
    .toLowerCase()
    .replace(/[-\s]+/g, "-")
    .replace(/^[-_]+|[-_]+$/g, "");
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
