import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { failedPrecondition, invalidArgument } from "../../../shared/rpc/errors.js";
import { shorten } from "../../../shared/tools/shorten.js";
import { type Binding, unary } from "../../binding.js";
import { unseen } from "../../lib/outcome.js";
import { operation } from "./graphql.js";
import { refOf, summaryOf } from "./knowledge.js";
import { changeableOf, objectOf, objectsOf, visibleOf } from "./resolve.js";

/** Merges objects into one. */
export const MERGE = operation(`
  mutation Merge($id: ID!, $sources: [String]!) {
    stixEdit(id: $id) {
      merge(stixObjectsIds: $sources) {
        id
      }
    }
  }
`);

/** So much of a lost description is said, in characters. */
const MOST_SAID = 2_000;

/** How entities are merged. */
export const mergingBindings: readonly Binding[] = [
  unary(EntityService.method.mergeEntities, async ({ targetId, sourceIds }, platform) => {
    const target = await changeableOf(platform, targetId, "target_id");
    if (!target.parent_types.includes("Stix-Domain-Object") || target.parent_types.includes("Container"))
      throw failedPrecondition(`target_id: merge_entities cannot merge objects of type ${target.entity_type}`);
    const sources = await objectsOf(platform, sourceIds, "source_ids");
    const other = sources.find(({ entity_type }) => entity_type !== target.entity_type);
    if (other !== undefined)
      throw invalidArgument(
        `source_ids: ${other.representative.main} has the type ${other.entity_type}, but the target has the type ${target.entity_type}; give objects of one type`,
      );
    if (sources.some(({ id }) => id === target.id))
      throw invalidArgument("source_ids: the target cannot be merged into itself; leave it out of source_ids");
    const ids = [...new Set(sources.map(({ id }) => id))];
    const texts = new Map<string, string>();
    for (const id of ids) texts.set(id, summaryOf(await objectOf(platform, id, "source_ids")).description.trim());
    await platform.graphql(MERGE, { id: target.id, sources: ids });
    const left = await visibleOf(platform, ids);
    if (left.length > 0)
      throw unseen(
        `OpenCTI accepted the merge, but these objects still exist: ${left.map(({ id }) => id).join(", ")}; read the target before you try again`,
      );
    const written = await objectOf(platform, target.id);
    const object = summaryOf(written);
    const notices =
      written.representative.main === target.representative.main
        ? []
        : [`the object's name is ${written.representative.main}`];
    for (const { id, representative } of sources) {
      const text = texts.get(id) ?? "";
      texts.delete(id);
      if (text !== "" && text !== object.description.trim())
        notices.push(
          `OpenCTI kept one description; that of ${representative.main} (id ${id}) is lost: ${shorten(text, MOST_SAID)}`,
        );
    }
    return { result: { object, notices }, merged: sources.map(refOf) };
  }),
];
