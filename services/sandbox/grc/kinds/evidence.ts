import { randomUUID } from "node:crypto";
import { FOLDER_REFUSED, ok, type Reply, refused } from "../replies.js";
import { isRespondent, may } from "../rights.js";
import { idsIn, type Row, timestamp, type World } from "../world.js";
import * as choices from "./choices.js";
import { type Body, isWebAddress } from "./field.js";
import { BY_FOLDER, BY_TIME, empty, type Kind, pick, type View } from "./kind.js";

/** The latest version of evidence. */
export function latest(evidence: Row, world: World): Row | undefined {
  const versions = world.all("evidence-revisions").filter((one) => one.evidence === evidence.id);
  return versions.sort((a, b) => Number(b.version) - Number(a.version))[0];
}

/** Adds a version. */
export function addVersion(evidence: Row, fields: Partial<Row>, world: World, id: string, at: string): Row {
  return world.insert("evidence-revisions", {
    id,
    folder: evidence.folder,
    name: null,
    created_at: at,
    updated_at: at,
    evidence: evidence.id,
    version: Number(latest(evidence, world)?.version ?? 0) + 1,
    link: null,
    attachment: null,
    size: null,
    observation: null,
    ...fields,
  });
}

const PLAIN = ["id", "created_at", "updated_at", "name", "description", "expiry_date"];

/** Evidence; its link and file are those of its latest version. */
export const evidences: Kind = {
  path: "evidences",
  model: "Evidence",
  codename: "evidence",
  verbs: ["POST", "PATCH", "DELETE"],
  unique: true,
  search: ["name", "description"],
  fields: {
    name: { kind: "text", required: true },
    description: { kind: "text" },
    status: { kind: "choice", choices: choices.EVIDENCE_STATUS, initial: "draft" },
    expiry_date: { kind: "date" },
    folder: { kind: "one", path: "folders" },
    link: { kind: "url" },
    applied_controls: { kind: "many", path: "applied-controls" },
    owner: { kind: "many", path: "actors" },
  },
  filters: {
    folder: BY_FOLDER,
    ...BY_TIME,
    status: { kind: "choice", choices: choices.EVIDENCE_STATUS, of: (row) => row.status },
    expiry_date: { kind: "exact", of: (row) => row.expiry_date },
    applied_controls: { kind: "related", path: "applied-controls", of: (row) => idsIn(row, "applied_controls") },
    owner: { kind: "related", path: "actors", of: (row) => idsIn(row, "owner") },
    requirement_assessments: { kind: "related", path: "requirement-assessments", of: provenBy },
  },
  read(row, view) {
    const version = latest(row, view.world);
    return {
      ...pick(row, PLAIN),
      ...empty(["security_exceptions", "contracts", "filtering_labels"]),
      owner: view.refs("actors", idsIn(row, "owner")),
      path: view.path(row.folder),
      attachment: version?.attachment ?? null,
      size: version?.size ?? null,
      folder: view.ref("folders", row.folder),
      applied_controls: view.refs("applied-controls", idsIn(row, "applied_controls")),
      requirement_assessments: view.refs("requirement-assessments", provenBy(row, view.world)),
      status: choices.labelOf(choices.EVIDENCE_STATUS, row.status),
      link: version?.link ?? null,
      is_published: true,
    };
  },
  written: (row) => ({
    ...pick(row, [...PLAIN, "status", "folder", "applied_controls", "link"]),
    ...empty(["requirement_assessments", "findings", "findings_assessments", "security_exceptions"]),
    ...empty(["timeline_entries", "contracts", "genericcollection", "owner", "filtering_labels"]),
    attachment: null,
  }),
  // Who answers an audit does not judge evidence.
  closed: (row, { world, user }) => (isRespondent(world, user, row.folder) ? ["status"] : []),
  save(row, patch, world) {
    const known = world.get("evidences", row.id);
    // A link sent to evidence that exists is taken and changes nothing.
    if (known !== undefined && patch.link !== undefined) row.link = known.link ?? null;
    if (patch.applied_controls !== undefined) linkBack(row, world);
    return undefined;
  },
  created(row, world) {
    linkBack(row, world);
    // A first version is made of nothing, too.
    addVersion(row, { link: row.link ?? null }, world, randomUUID(), row.created_at);
  },
  deleted: unlink,
};

/** Requirement assessments that name the evidence. */
function provenBy(evidence: Row, world: World): string[] {
  const named = world.all("requirement-assessments").filter((r) => idsIn(r, "evidences").includes(evidence.id));
  return named.map(({ id }) => id);
}

/** Takes the evidence out of everything that names it, with its versions. */
function unlink(evidence: Row, world: World): void {
  for (const path of ["applied-controls", "requirement-assessments"]) {
    for (const row of world.all(path)) row.evidences = idsIn(row, "evidences").filter((id) => id !== evidence.id);
  }
  for (const version of world.all("evidence-revisions")) {
    if (version.evidence === evidence.id) world.table("evidence-revisions").delete(version.id);
  }
}

/** The relation is one: what the evidence names, names the evidence. */
function linkBack(evidence: Row, world: World): void {
  for (const control of world.all("applied-controls")) {
    const others = idsIn(control, "evidences").filter((id) => id !== evidence.id);
    const linked = idsIn(evidence, "applied_controls").includes(control.id);
    if (linked) control.evidences = [...others, evidence.id];
    else if (others.length !== idsIn(control, "evidences").length) control.evidences = others;
  }
}

/** Adds a version to evidence, which goes to review. */
function createVersion(body: Body, { world, user }: View): Reply {
  const evidence = world.get("evidences", body.evidence);
  if (evidence === undefined) return refused({ evidence: ["This field is required."] });
  if (typeof body.link === "string" && !isWebAddress(body.link)) return refused({ link: ["Enter a valid URL."] });
  evidence.status = "in_review";
  evidence.updated_at = timestamp();
  const folder = typeof body.folder === "string" ? body.folder : world.rootId;
  if (!may(world, user, "add_evidencerevision", folder)) return FOLDER_REFUSED;
  const fields = { link: body.link ?? null, observation: body.observation ?? null };
  return ok(evidenceRevisions.written(addVersion(evidence, fields, world, randomUUID(), timestamp())), 201);
}

/** Versions of evidence. */
export const evidenceRevisions: Kind = {
  path: "evidence-revisions",
  model: "EvidenceRevision",
  codename: "evidencerevision",
  verbs: ["POST"],
  create: createVersion,
  search: [],
  fields: {
    evidence: { kind: "one", path: "evidences", required: true },
    link: { kind: "url" },
    observation: { kind: "text" },
    folder: { kind: "one", path: "folders" },
  },
  filters: {
    folder: BY_FOLDER,
    evidence: { kind: "related", path: "evidences", of: (row) => [row.evidence as string] },
  },
  read: (row, view) => ({
    ...pick(row, ["id", "attachment", "size", "created_at", "updated_at", "version", "link", "observation"]),
    evidence: view.ref("evidences", row.evidence),
    folder: view.ref("folders", row.folder),
    str: `${view.world.get("evidences", row.evidence)?.name} v${row.version}`,
    task_node: null,
    is_published: true,
    attachment_hash: null,
  }),
  written: (row) => ({
    ...pick(row, ["id", "created_at", "updated_at", "version", "attachment", "link", "observation", "folder"]),
    ...pick(row, ["evidence"]),
    is_published: true,
    attachment_hash: null,
    task_node: null,
  }),
};
