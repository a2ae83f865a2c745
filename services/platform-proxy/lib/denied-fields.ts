// Not the whole library, which an OpenCTI client needs nothing else of.
import type { DocumentNode, SelectionSetNode } from "graphql";
import { Kind } from "graphql/language/kinds.js";
import { parse } from "graphql/language/parser.js";
import { LRUCache } from "lru-cache";

/** Tells whether a GraphQL document is denied by its root fields; each document is parsed once. */
export function deniedByField(isDenied: (field: string) => boolean): (document: string) => boolean {
  const known = new LRUCache<string, boolean>({ max: 1_000 });
  return (document) => {
    let denied = known.get(document);
    if (denied === undefined) {
      denied = rootFieldsOf(parse(document, { noLocation: true })).some(isDenied);
      known.set(document, denied);
    }
    return denied;
  };
}

/** The fields that a document asks of the root, by their own names, whatever their aliases. */
function rootFieldsOf({ definitions }: DocumentNode): string[] {
  const fields: string[] = [];
  const visited = new Set<string>();
  const visit = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) fields.push(selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) visit(selection.selectionSet);
      else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value);
        for (const one of definitions) {
          if (one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === selection.name.value) visit(one.selectionSet);
        }
      }
    }
  };
  for (const one of definitions) if (one.kind === Kind.OPERATION_DEFINITION) visit(one.selectionSet);
  return fields;
}
