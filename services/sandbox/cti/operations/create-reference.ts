import { functional } from "../errors.js";
import type { Thing } from "../thing.js";
import type { Visit } from "../world.js";

/** What an external reference is made of. */
interface ReferenceInput {
  readonly source_name: string;
  readonly url?: string | null;
  readonly external_id?: string | null;
  readonly [attribute: string]: unknown;
}

/** Makes an external reference; one of the same address, or of the same source and id, is overwritten by it. */
export function createReference(input: ReferenceInput, { graph, account, world }: Visit): Thing {
  const { url, external_id, source_name } = input;
  if (!url && !external_id) {
    const properties = ["url", "source_name", "external_id"].map((src) => ({ src }));
    throw functional("Missing required elements for External-Reference creation (url - source_name - external_id)", {
      properties,
    });
  }
  const attributes = Object.fromEntries(
    Object.entries(input).filter(([name, value]) => name !== "update" && value != null),
  );
  for (const thing of graph.things.values()) {
    if (thing.type !== "External-Reference") continue;
    const { attributes: own } = thing;
    const isSame = url ? own.url === url : own.source_name === source_name && own.external_id === external_id;
    if (!isSame) continue;
    Object.assign(own, attributes);
    graph.touch(thing);
    return thing;
  }
  const made = graph.add({ type: "External-Reference", attributes, creator: account.id });
  world.history.record("create", made, source_name, account, world.history.sentenceOf("create", made));
  return made;
}
