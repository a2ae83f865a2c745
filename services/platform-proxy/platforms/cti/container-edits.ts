import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { UpdateContainerRequest } from "#proto/cti/v1/container_record_service_pb.js";
import { failedPrecondition, invalidArgument } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { type ContainerNode, statusOf } from "./container-rows.js";
import { operation } from "./graphql.js";
import { type Category, checkVocabulary } from "./writes.js";

/** The states of a type's workflow. */
export const WORKFLOW = operation(`
  query Workflow($type: String!) {
    subType(id: $type) {
      statuses {
        id
        template {
          name
        }
      }
    }
  }
`);

/** Arguments whose value is a text as it is. */
type Text = "name" | "description" | "content";
/** Arguments whose value is a word of a vocabulary, or several. */
type Word = "severity" | "priority" | "context" | "opinion" | "types";

/** How a type of containers keeps what can be changed of it: the platform's attribute, and its vocabulary. */
type Kept = Partial<Record<Text | "published" | "dueDate", string>> &
  Partial<Record<Word, readonly [string, Category]>>;

const TEXTS = { name: "name", description: "description" };
const CASE: Kept = {
  ...TEXTS,
  content: "content",
  severity: ["severity", "case_severity_ov"],
  priority: ["priority", "case_priority_ov"],
};
const KEPT: Readonly<Record<string, Kept>> = {
  Report: { ...TEXTS, content: "content", published: "published", types: ["report_types", "report_types_ov"] },
  Grouping: { ...TEXTS, content: "content", context: ["context", "grouping_context_ov"] },
  "Case-Incident": { ...CASE, types: ["response_types", "incident_response_types_ov"] },
  "Case-Rfi": { ...CASE, types: ["information_types", "request_for_information_types_ov"] },
  "Case-Rft": { ...CASE, types: ["takedown_types", "request_for_takedown_types_ov"] },
  Feedback: { ...TEXTS, content: "content" },
  Task: { ...TEXTS, dueDate: "due_date" },
  Opinion: { description: "explanation", opinion: ["opinion", "opinion_ov"] },
  "Observed-Data": {},
};

/** A change of one attribute, as the platform takes it. */
export interface Edit {
  readonly key: string;
  readonly value: readonly string[];
  readonly operation?: "replace";
}

/**
 * The changes that a request comes to for a type of containers.
 *
 * @throws ConnectError where the type has no such attribute, or a word is in none of its vocabularies.
 */
export async function editsOf(platform: Platform, type: string, request: UpdateContainerRequest): Promise<Edit[]> {
  const kept = KEPT[type];
  if (kept === undefined) throw failedPrecondition(`container_id: a ${type} is not changed by this tool`);
  const edits: Edit[] = [];
  const { published, dueDate, types, clearTypes, status, confidence } = request;
  for (const argument of ["name", "description", "content"] as const) {
    const text = request[argument];
    if (text !== undefined)
      edits.push({ key: keyOf(type, argument, kept[argument]), value: [trimmed(argument, text)] });
  }
  for (const [argument, name, at] of [
    ["published", "published", published],
    ["dueDate", "due_date", dueDate],
  ] as const) {
    if (at !== undefined)
      edits.push({ key: keyOf(type, name, kept[argument]), value: [timestampDate(at).toISOString()] });
  }
  for (const argument of ["severity", "priority", "context", "opinion"] as const) {
    const word = request[argument];
    if (word === undefined) continue;
    const [key, category] = keyOf(type, argument, kept[argument]);
    edits.push({ key, value: await checkVocabulary(platform, category, [word], argument) });
  }
  if (types.length > 0 && clearTypes) throw invalidArgument("clear_types: not together with types");
  if (types.length > 0 || clearTypes) {
    const [key, category] = keyOf(type, "types", kept.types);
    edits.push({ key, value: await checkVocabulary(platform, category, types, "types"), operation: "replace" });
  }
  if (status !== undefined) edits.push({ key: WORKFLOW_ID, value: [await statusIdOf(platform, type, status)] });
  if (confidence !== undefined) edits.push({ key: "confidence", value: [String(confidence)] });
  return edits;
}

const WORKFLOW_ID = "x_opencti_workflow_id";

function keyOf<Key>(type: string, argument: string, key: Key | undefined): Key {
  if (key === undefined) throw invalidArgument(`${argument}: a ${type} has none`);
  return key;
}

function trimmed(argument: string, text: string): string {
  if (argument !== "name") return text;
  const name = text.trim();
  if (name.length < 2) throw invalidArgument("name: must hold two characters that are not blank");
  return name;
}

async function statusIdOf(platform: Platform, type: string, status: string): Promise<string> {
  const { subType } = await platform.graphql(WORKFLOW, { type });
  const known = (subType?.statuses ?? []).map(({ id, template }) => ({ id, name: template?.name ?? "" }));
  if (known.length === 0) throw failedPrecondition(`status: on this platform a ${type} has no workflow`);
  const found = known.find(({ name }) => name.toLowerCase() === status.trim().toLowerCase());
  if (found !== undefined) return found.id;
  throw invalidArgument(`status: ${status} is not one of ${known.map(({ name }) => name).join(", ")}`);
}

/** Says where what was written differs from what was asked. */
export function differencesOf(edits: readonly Edit[], written: ContainerNode, status: string | undefined): string[] {
  return edits.flatMap(({ key, value }) => {
    if (key === WORKFLOW_ID) {
      const now = statusOf(written);
      return now.toLowerCase() === status?.trim().toLowerCase() ? [] : [`the status is ${now || "not set"}`];
    }
    const now = (written as Readonly<Record<string, unknown>>)[key];
    if (textOf(now) === textOf(value)) return [];
    const told = textOf(now).slice(0, 100) || "not set";
    const why = key === "confidence" ? ": the platform cuts it to your maximum" : "";
    return [`the ${key} is ${told}${why}`];
  });
}

/** A value as text, whatever form the platform gives it in; the order of words does not count. */
function textOf(value: unknown): string {
  return [value]
    .flat()
    .filter((one) => one !== null && one !== undefined)
    .map(String)
    .sort()
    .join(", ");
}
