import type { NewObjectRefs } from "#proto/cti/v1/knowledge_pb.js";
import type { Platform } from "../../platform.js";
import { type COUNTED, countOf } from "./contents.js";
import type { NodeOf } from "./graphql.js";
import { type CoreNode, summaryOf } from "./knowledge.js";
import { nodesOf } from "./paging.js";
import { all, objectsOf } from "./resolve.js";
import { checkedName, textOf } from "./text.js";
import { inputOf, madeOf, NAMESAKES, type NewInput, noticesOfNew } from "./writes.js";

/** What every new grouping and case is given. */
export interface NewContainer {
  readonly name: string;
  readonly description: string;
  readonly objectIds: readonly string[];
  readonly refs?: NewObjectRefs | undefined;
}

/** What is to be sent for one, and what is to be said of it. */
interface Prepared {
  readonly input: NewInput & { readonly name: string; readonly description?: string; readonly objects?: string[] };
  readonly notices: readonly string[];
}

/**
 * The input of a new container, everything that it names resolved. The platform
 * makes another one for every call, so one of the same name is told. Calls that
 * create one take turns: of two in the same millisecond the platform makes one.
 *
 * @throws ConnectError where a reference or an object is unknown or hidden.
 */
export async function newContainerOf(platform: Platform, type: string, given: NewContainer): Promise<Prepared> {
  const name = checkedName(given.name);
  const refs = await inputOf(platform, given.refs);
  const objects = new Set((await objectsOf(platform, given.objectIds, "object_ids", true)).map(({ id }) => id));
  const filters = all({ key: ["name"], values: [name] });
  const { stixDomainObjects } = await platform.graphql(NAMESAKES, { types: [type], filters });
  const [other] = nodesOf(stixDomainObjects);
  return {
    input: {
      ...refs,
      name,
      ...textOf("description", given.description),
      ...(objects.size > 0 && { objects: [...objects] }),
    },
    notices: other === undefined ? [] : [`another ${type} with this name already existed (id ${other.id})`],
  };
}

type Made = CoreNode & NodeOf<typeof COUNTED> & { readonly confidence?: number | null };

/** What is said of a container that was made. @throws ConnectError unavailable, where the platform does not say what it made. */
export function createdOf(given: NewContainer, { input, notices }: Prepared, answer: Made | null) {
  const made = madeOf(answer);
  const count = countOf(made.objects);
  const said = [...notices, ...noticesOfNew({ refs: given.refs, name: input.name }, made)];
  if (count.objectCount !== (input.objects ?? []).length)
    said.push(`the container holds ${count.objectCount} objects that you can see`);
  return { result: { object: summaryOf(made), notices: said }, ...count };
}
