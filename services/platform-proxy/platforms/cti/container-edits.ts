import type { UpdateContainerRequest } from "#proto/cti/v1/container_record_service_pb.js";
import { failedPrecondition, invalidArgument } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { type ContainerNode, containerTexts, statusOf } from "./container-rows.js";
import { type Field, isoOf, type Told, toldOf } from "./edits.js";
import { operation } from "./graphql.js";
import { checkedName } from "./text.js";
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

/**
 * The fields that a request changes of a type of containers.
 *
 * @throws ConnectError where the type has no such attribute, or a word is in none of its vocabularies.
 */
export async function fieldsOf(platform: Platform, type: string, request: UpdateContainerRequest): Promise<Field[]> {
  const kept = KEPT[type];
  if (kept === undefined)
    throw failedPrecondition(
      `container_id: update_container cannot change objects of type ${type}; change this one in OpenCTI itself`,
    );
  const { types, clearTypes, status, confidence } = request;
  const fields: Field[] = [];
  for (const word of ["name", "description", "content"] as const) {
    const text = request[word];
    if (text !== undefined) fields.push([word, keyOf(type, word, kept[word]), trimmed(word, text)]);
  }
  for (const [argument, word] of [
    ["published", "published"],
    ["dueDate", "due_date"],
  ] as const) {
    const at = isoOf(request[argument]);
    if (at !== undefined) fields.push([word, keyOf(type, word, kept[argument]), at]);
  }
  for (const word of ["severity", "priority", "context", "opinion"] as const) {
    const asked = request[word];
    if (asked === undefined) continue;
    const [key, category] = keyOf(type, word, kept[word]);
    const [spelt] = await checkVocabulary(platform, category, [asked], word);
    fields.push([word, key, spelt]);
  }
  if (types.length > 0 && clearTypes)
    throw invalidArgument("clear_types: cannot be combined with types; give one of the two");
  if (types.length > 0 || clearTypes) {
    const [key, category] = keyOf(type, "types", kept.types);
    fields.push(["types", key, await checkVocabulary(platform, category, types, "types")]);
  }
  if (status !== undefined) {
    const { id, name } = await statusCalled(platform, type, status);
    fields.push(["status", WORKFLOW_ID, name, id]);
  }
  fields.push(["confidence", "confidence", confidence]);
  return fields;
}

/** What a container says of what update_container changes. */
export function toldOfContainer(node: ContainerNode): Told {
  const { types, description, content } = containerTexts(node);
  return {
    ...(KEPT[node.entity_type]?.name !== undefined && { name: node.representative.main }),
    description,
    content,
    published: toldOf(node.published),
    due_date: toldOf(node.due_date),
    severity: toldOf(node.severity),
    priority: toldOf(node.priority),
    context: toldOf(node.context),
    opinion: toldOf(node.opinion),
    types,
    status: statusOf(node),
    confidence: toldOf(node.confidence),
  };
}

const WORKFLOW_ID = "x_opencti_workflow_id";

function keyOf<Key>(type: string, argument: string, key: Key | undefined): Key {
  if (key === undefined)
    throw invalidArgument(`${argument}: objects of type ${type} do not have this field; leave it out`);
  return key;
}

function trimmed(argument: string, text: string): string {
  if (argument !== "name") return text;
  return checkedName(text);
}

async function statusCalled(platform: Platform, type: string, status: string): Promise<{ id: string; name: string }> {
  const { subType } = await platform.graphql(WORKFLOW, { type });
  const known = (subType?.statuses ?? []).map(({ id, template }) => ({ id, name: template?.name ?? "" }));
  if (known.length === 0)
    throw failedPrecondition(
      `status: OpenCTI has no workflow for objects of type ${type}; an administrator of OpenCTI can define one`,
    );
  const found = known.find(({ name }) => name.toLowerCase() === status.trim().toLowerCase());
  if (found !== undefined) return found;
  throw invalidArgument(`status: ${status} is not one of ${known.map(({ name }) => name).join(", ")}`);
}
