import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type DocumentSchema, DocumentService, type UploadDocumentRequest } from "#proto/aev/v1/document_service_pb.js";
import { failedPrecondition } from "../../../../shared/rpc/errors.js";
import { textPage } from "../../../../shared/rpc/text-page.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { objectOf } from "../../../lib/answers.js";
import { takingTurns } from "../../../lib/taking-turns.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { seenOf, usesOf } from "../document-uses.js";
import { DOCUMENT } from "../kinds.js";
import { labelIds, labelNames } from "../labels.js";
import { havingOne, listPage, nameKey, type Order } from "../list.js";
import { memberOf, plainest, SCENARIO, SIMULATION } from "../member.js";
import { type Search, searchAll } from "../search.js";
import { type TenantScope, tenantOf } from "../tenant.js";
import { needStorable } from "../unstorable.js";
import type { UpstreamDocument } from "../upstream-content.js";

const BY_NAME: Order<UpstreamDocument> = {
  sorts: [{ property: "document_name", direction: "asc" }],
  keyOf: (row) => nameKey(row.document_name),
  isOurs: true,
};

const { listDocuments, getDocument, readDocument, uploadDocument, updateDocument, deleteDocument } =
  DocumentService.method;

/** Documents that are looked through for one that was there. */
const MAX_DOCUMENTS = 20_000;

/** How the tools of this service are answered. */
export const bindings = [
  unary(listDocuments, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = await listPage<UpstreamDocument>(
      platform,
      tenant,
      {
        route: "/documents/search",
        idKey: "document_id",
        query: r.query,
        textsOf: (row) => [row.document_name, row.document_description],
        having: havingOne((row) => row.document_tags, await labelIds(platform, tenant, r.labels)),
        order: BY_NAME,
        piece: 200,
      },
      r,
    );
    const names = await labelNames(
      platform,
      tenant,
      page.rows.map((row) => row.document_tags),
    );
    const documents = page.rows.map((row) => {
      const document = toRow(row, names);
      return { ...document, description: shorten(document.description) };
    });
    return { documents, ...page.paging };
  }),

  unary(getDocument, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const row = await memberOf(platform, tenant, DOCUMENT, r.documentId);
    return { document: { ...(await shown(platform, tenant, row)), uses: await usesOf(platform, tenant, row) } };
  }),

  unary(readDocument, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const row = await memberOf(platform, tenant, DOCUMENT, r.documentId);
    const path = tenant.path(`/documents/${row.document_id}/file`);
    const text = await platform.rest<string>({ verb: "GET", path, text: true });
    if (/[\0\ufffd]/.test(text)) {
      throw failedPrecondition(
        `${row.document_name} (${row.document_type ?? "unknown type"}) is not a UTF-8 text, so read_document cannot read it; download it from OpenAEV itself`,
      );
    }
    const page = textPage(text, r.page, r.pageBytes);
    return { name: row.document_name, mimeType: row.document_type ?? "", ...page };
  }),

  unary(uploadDocument, async (r, platform) => {
    // For such a name the platform fails.
    needStorable({ name: r.name });
    const tenant = await tenantOf(platform, r.tenantId);
    const scenarios = await plansOf(platform, tenant, "scenario", r.scenarioIds);
    const simulations = await plansOf(platform, tenant, "simulation", r.simulationIds);
    const tags = await labelIds(platform, tenant, r.labels);
    const links = { document_scenarios: scenarios, document_exercises: simulations };
    const input = { document_description: r.description, document_tags: tags, ...links };
    const path = tenant.path("/documents");
    // Of the same content it keeps the first document, and links that one only to more of what it has; of several
    // at once it keeps some of them, and does not say which were there.
    const { kept, existed } = await takingTurns(platform, "document", [contentOf(r, tenant)], async () => {
      const there = await idsNamed(platform, tenant, r.name.trim()).catch((error: unknown) => {
        if (error instanceof ConnectError && error.code === Code.PermissionDenied) return new Set();
        throw error;
      });
      const answer = await platform.rest({ verb: "POST", path, form: formOf(r, input) });
      const document = objectOf<UpstreamDocument>(platform.server, answer, "document_id");
      // One of another name was there, also for who may upload and is shown no list.
      const isOther =
        document.document_name !== r.name.trim() || (document.document_description ?? "") !== (r.description ?? "");
      return { kept: document, existed: isOther || there.has(document.document_id) };
    });
    const isLinked =
      scenarios.every((id) => kept.document_scenarios?.includes(id)) &&
      simulations.every((id) => kept.document_exercises?.includes(id));
    const document = isLinked
      ? kept
      : await written(platform, tenant, kept, {
          document_scenarios: [...new Set([...(kept.document_scenarios ?? []), ...scenarios])],
          document_exercises: [...new Set([...(kept.document_exercises ?? []), ...simulations])],
        });
    return { document: await shown(platform, tenant, document), ...(existed && { existed }) };
  }),

  writingBack(
    updateDocument,
    (r) => [r.documentId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      const before = await memberOf(platform, tenant, DOCUMENT, r.documentId);
      const tags = await labelIds(platform, tenant, r.labels);
      const scenarios = await plansOf(platform, tenant, "scenario", r.scenarioIds);
      const simulations = await plansOf(platform, tenant, "simulation", r.simulationIds);
      const replaced = (isGiven: boolean, ids: readonly string[], had: readonly string[] | null | undefined) =>
        isGiven || ids.length > 0 ? ids : (had ?? []);
      const wanted = {
        document_scenarios: replaced(r.clearScenarios, scenarios, before.document_scenarios),
        document_exercises: replaced(r.clearSimulations, simulations, before.document_exercises),
      };
      const changed = await written(platform, tenant, before, {
        document_description: r.description ?? before.document_description,
        document_tags: replaced(r.clearLabels, tags, before.document_tags),
        ...wanted,
      });
      const over = (had: readonly string[] | null | undefined, asked: readonly string[]) =>
        (had ?? []).filter((id) => !asked.includes(id));
      const stillLinked = [
        ...(await seenOf(platform, tenant, "scenario", over(changed.document_scenarios, wanted.document_scenarios))),
        ...(await seenOf(platform, tenant, "simulation", over(changed.document_exercises, wanted.document_exercises))),
      ];
      return { document: await shown(platform, tenant, changed), stillLinked };
    },
  ),

  unary(deleteDocument, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { document_id: id, document_name: name } = await memberOf(platform, tenant, DOCUMENT, r.documentId);
    try {
      await platform.rest<void>({ verb: "DELETE", path: tenant.path(`/documents/${id}`) });
    } catch (error) {
      if (!(error instanceof ConnectError && error.code === Code.InvalidArgument)) throw error;
      throw failedPrecondition(
        `OpenAEV does not delete ${name} because a payload drops or runs it; change the payload first`,
        error,
      );
    }
    return { deleted: { id, name } };
  }),
];

function formOf(r: UploadDocumentRequest, input: object): FormData {
  const bytes = bytesOf(r);
  const type = r.mimeType ?? (r.body.case === "content" ? "text/plain" : "application/octet-stream");
  const form = new FormData();
  form.append("input", new Blob([JSON.stringify(input)], { type: "application/json" }));
  form.append("file", new Blob([Uint8Array.from(bytes)], { type }), r.name.trim());
  return form;
}

const bytesOf = ({ body }: UploadDocumentRequest): Uint8Array =>
  body.case === "content" ? new TextEncoder().encode(body.value) : (body.value as Uint8Array);

/** What the platform tells documents of a tenant apart by, or less. */
const contentOf = (r: UploadDocumentRequest, tenant: TenantScope): string =>
  `${tenant.id} ${createHash("sha256").update(bytesOf(r)).digest("hex")}`;

/** The documents that may have a name: the platform is asked for no others, of which there may be many. */
async function idsNamed(platform: Platform, tenant: TenantScope, name: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  const search: Search = {
    route: "/documents/search",
    idKey: "document_id",
    query: plainest(name),
    sorts: [{ property: "document_name", direction: "asc" }],
  };
  for await (const { document_id: id } of searchAll<UpstreamDocument>(platform, tenant, search, MAX_DOCUMENTS))
    ids.add(id);
  return ids;
}

/** The ids of scenarios or simulations that there are in the tenant. @throws ConnectError not_found. */
async function plansOf(
  platform: Platform,
  tenant: TenantScope,
  kind: "scenario" | "simulation",
  ids: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const id of ids) {
    if (kind === "scenario") found.push((await memberOf(platform, tenant, SCENARIO, id)).scenario_id);
    else found.push((await memberOf(platform, tenant, SIMULATION, id)).exercise_id);
  }
  return [...new Set(found)];
}

/** Writes a document whole: what is left out would be cleared. */
async function written(
  platform: Platform,
  tenant: TenantScope,
  before: UpstreamDocument,
  changes: Readonly<Record<string, unknown>>,
): Promise<UpstreamDocument> {
  const answer = await platform.rest({
    verb: "PUT",
    path: tenant.path(`/documents/${before.document_id}`),
    body: {
      document_description: before.document_description,
      document_tags: before.document_tags ?? [],
      document_scenarios: before.document_scenarios ?? [],
      document_exercises: before.document_exercises ?? [],
      ...changes,
    },
  });
  return objectOf(platform.server, answer, "document_id");
}

function toRow(row: UpstreamDocument, names: (ids: readonly string[] | null | undefined) => string[]) {
  return {
    id: row.document_id,
    name: row.document_name,
    mimeType: row.document_type ?? "",
    description: row.document_description ?? "",
    labels: names(row.document_tags),
  } satisfies MessageInitShape<typeof DocumentSchema>;
}

async function shown(platform: Platform, tenant: TenantScope, row: UpstreamDocument) {
  return {
    ...toRow(row, await labelNames(platform, tenant, [row.document_tags])),
    scenarios: await seenOf(platform, tenant, "scenario", row.document_scenarios),
    simulations: await seenOf(platform, tenant, "simulation", row.document_exercises),
  } satisfies MessageInitShape<typeof DocumentSchema>;
}
