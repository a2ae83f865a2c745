import { SchemaService } from "#proto/cti/v1/schema_service_pb.js";
import { type Binding, unary } from "../../../binding.js";
import { filterKeysOf } from "../filter-keys.js";
import { operation } from "../graphql.js";
import { checkTypes } from "../types.js";

const { listRelationshipTypes, listFilterKeys } = SchemaService.method;

/** Which relationship types are allowed between which types. */
export const RELATION_RULES = operation(`
  query RelationRules {
    schemaRelationsTypesMapping {
      key
      values
    }
  }
`);

const BASES = ["Stix-Domain-Object", "Stix-Cyber-Observable"];

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(listRelationshipTypes, async ({ fromType, toType }, platform) => {
    await checkTypes(platform, fromType === "" ? [] : [fromType], BASES, "from_type");
    await checkTypes(platform, toType === "" ? [] : [toType], BASES, "to_type");
    const { schemaRelationsTypesMapping } = await platform.graphql(RELATION_RULES, {});
    const rules = new Map<string, Set<string>>();
    for (const { key, values } of schemaRelationsTypesMapping) {
      // Types are written with hyphens, the two of a pair with an underscore between them.
      const [from = "", to = ""] = key.split("_");
      if ((fromType !== "" && from !== fromType) || (toType !== "" && to !== toType)) continue;
      for (const value of values) {
        const others = rules.get(value) ?? new Set();
        rules.set(value, others);
        if (fromType === "" || toType === "") others.add(fromType === "" ? from : to);
      }
    }
    // Allowed between any two, which the platform's table says of some only.
    rules.set("related-to", new Set());
    const named = [...rules].sort(([a], [b]) => (a < b ? -1 : 1));
    return { rules: named.map(([type, others]) => ({ type, otherTypes: [...others].sort() })) };
  }),
  unary(listFilterKeys, async ({ type }, platform) => {
    await checkTypes(platform, [type], BASES, "type");
    return { keys: await filterKeysOf(platform, type) };
  }),
];
