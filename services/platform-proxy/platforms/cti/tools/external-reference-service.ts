import { ExternalReferenceService } from "#proto/cti/v1/external_reference_service_pb.js";
import { parsedUrl } from "../../../../shared/parsed-url.js";
import { invalidArgument, notFound } from "../../../../shared/rpc/errors.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { type Binding, unary } from "../../../binding.js";
import { unseen } from "../../../lib/outcome.js";
import { takingTurns } from "../../../lib/taking-turns.js";
import type { Platform } from "../../../platform.js";
import { checkMayChange } from "../entity-types.js";
import { fragment, type NodeOf, operation } from "../graphql.js";
import { REF, refOf } from "../knowledge.js";
import { pageOfAll } from "../lists.js";
import { nodesOf } from "../paging.js";
import { ADD_REFS, REMOVE_REF } from "../ref-edits.js";
import { all } from "../resolve.js";
import { textOf } from "../text.js";
import { madeOf, referencesOf } from "../writes.js";

const { listEntityExternalReferences, addExternalReference, removeExternalReference } = ExternalReferenceService.method;

const REFERENCE = fragment(`
  fragment Reference on ExternalReference {
    id
    source_name
    url
    external_id
    description
  }
`);

type ReferenceNode = NodeOf<typeof REFERENCE>;

/** The external references of an object; the platform gives them on one page. */
export const REFERENCES_OF = operation(
  `
  query ReferencesOf($id: String!) {
    stixCoreObject(id: $id) {
      ...Ref
      externalReferences(first: 2000) {
        edges {
          node {
            ...Reference
          }
        }
      }
    }
  }
`,
  [REF, REFERENCE],
);

/** External references by what tells one from another. */
export const SAME_REFERENCES = operation(
  `
  query SameReferences($filters: FilterGroup) {
    externalReferences(filters: $filters, first: 20) {
      edges {
        node {
          ...Reference
        }
      }
    }
  }
`,
  [REFERENCE],
);

/** Makes an external reference. */
export const CREATE_REFERENCE = operation(
  `
  mutation CreateReference($input: ExternalReferenceAddInput!) {
    externalReferenceAdd(input: $input) {
      ...Reference
    }
  }
`,
  [REFERENCE],
);

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(listEntityExternalReferences, async (request, platform) => {
    const { object, references } = await referencedBy(platform, request.objectId);
    const keyOf = ({ source_name, id }: ReferenceNode) => `${source_name.toLowerCase()} ${id}`;
    const { rows, paging } = pageOfAll(request, ["external-references", object.id], references, keyOf);
    return { references: rows.map(referenceOf), ...paging };
  }),
  unary(addExternalReference, async (request, platform) => {
    const [source_name, url, external_id] = [request.sourceName, request.url, request.externalId].map((one) =>
      one.trim(),
    ) as [string, string, string];
    if (url === "" && external_id === "") throw invalidArgument("url: give url, external_id or both");
    if (source_name === "") throw invalidArgument("source_name: must not be blank");
    if (url !== "") checkAddress(url);
    const before = await referencedBy(platform, request.objectId);
    const { object } = before;
    checkMayChange(object);
    const asked = { source_name, url, external_id };
    const key = url === "" ? `${source_name} ${external_id}` : url;
    const fields = {
      source_name,
      ...(url !== "" && { url }),
      ...(external_id !== "" && { external_id }),
      ...textOf("description", request.description),
    };
    const { same, reference } = await takingTurns(platform, "External-Reference", [key], async () => {
      const known = await sameAs(platform, asked);
      const made = async () =>
        madeOf((await platform.graphql(CREATE_REFERENCE, { input: fields })).externalReferenceAdd);
      return { same: known, reference: known ?? (await made()) };
    });
    const isThere = ({ id }: ReferenceNode) => id === reference.id;
    const alreadyAttached = before.references.some(isThere);
    if (!alreadyAttached) {
      const input = { relationship_type: "external-reference", toIds: [reference.id] };
      await platform.graphql(ADD_REFS, { id: object.id, input });
      const after = await referencedBy(platform, object.id);
      if (!after.references.some(isThere))
        throw unseen("OpenCTI did not attach the reference; read the object and try again");
    }
    return {
      object: refOf(object),
      reference: referenceOf(reference),
      created: same === undefined,
      alreadyAttached,
    };
  }),
  unary(removeExternalReference, async ({ objectId, externalReferenceId }, platform) => {
    const { object, references } = await referencedBy(platform, objectId);
    checkMayChange(object);
    const [id = ""] = await referencesOf(platform, [externalReferenceId], "external_reference_id");
    if (!references.some((one) => one.id === id)) return { object: refOf(object), removed: false };
    await platform.graphql(REMOVE_REF, { id: object.id, toId: id, type: "external-reference" });
    const after = await referencedBy(platform, object.id);
    if (after.references.some((one) => one.id === id))
      throw unseen("OpenCTI accepted the change, but the object still has the reference; try again");
    return { object: refOf(object), removed: true };
  }),
];

/** @throws ConnectError invalid_argument, for what is no web address: people follow references, and a browser would run a script. */
function checkAddress(url: string): void {
  if (!/^(https?|ftp):\/\/[^\s<>"\p{Cc}]+$/iu.test(url) || parsedUrl(url) === undefined)
    throw invalidArgument(`url: ${url} is not a web address; it must begin with https://, http:// or ftp://`);
}

/** An object with its references. @throws ConnectError not_found. */
async function referencedBy(platform: Platform, id: string) {
  const { stixCoreObject } = await platform.graphql(REFERENCES_OF, { id });
  if (stixCoreObject === null) throw notFound(`object_id: no object with the id ${id} exists or is visible to you`);
  return { object: stixCoreObject, references: nodesOf(stixCoreObject.externalReferences) };
}

/**
 * The reference that the platform would take a new one for, and overwrite: one
 * of the same address, or without one of the same source and id. Its filters
 * take another case for the same, and its identities do not.
 */
async function sameAs(
  platform: Platform,
  { source_name, url, external_id }: Readonly<Record<"source_name" | "url" | "external_id", string>>,
): Promise<ReferenceNode | undefined> {
  const filters =
    url !== ""
      ? all({ key: ["url"], values: [url] })
      : all({ key: ["source_name"], values: [source_name] }, { key: ["external_id"], values: [external_id] });
  const { externalReferences } = await platform.graphql(SAME_REFERENCES, { filters });
  return nodesOf(externalReferences).find((one) =>
    url !== "" ? one.url === url : one.source_name === source_name && one.external_id === external_id,
  );
}

const referenceOf = (node: ReferenceNode) => ({
  id: node.id,
  sourceName: node.source_name,
  url: node.url ?? "",
  externalId: node.external_id ?? "",
  description: shorten(node.description),
});
