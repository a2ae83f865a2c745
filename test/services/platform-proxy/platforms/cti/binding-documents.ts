import * as opencti from "../../../../../services/platform-proxy/platforms/cti/adapter.js";
import { CREATABLE_TYPES } from "../../../../../services/platform-proxy/platforms/cti/entity-types.js";
import * as reports from "../../../../../services/platform-proxy/platforms/cti/reports.js";
import * as resolve from "../../../../../services/platform-proxy/platforms/cti/resolve.js";
import * as annotation from "../../../../../services/platform-proxy/platforms/cti/tools/annotation-service.js";
import * as container from "../../../../../services/platform-proxy/platforms/cti/tools/container-service.js";
import * as entity from "../../../../../services/platform-proxy/platforms/cti/tools/entity-service.js";
import * as insight from "../../../../../services/platform-proxy/platforms/cti/tools/insight-service.js";
import * as observable from "../../../../../services/platform-proxy/platforms/cti/tools/observable-service.js";
import * as relationship from "../../../../../services/platform-proxy/platforms/cti/tools/relationship-service.js";
import * as search from "../../../../../services/platform-proxy/platforms/cti/tools/search-service.js";
import * as writes from "../../../../../services/platform-proxy/platforms/cti/writes.js";

/** Every document that the adapter and the bindings send, by name. */
export const documents: readonly (readonly [name: string, document: string])[] = [
  ...[opencti, annotation, container, entity, insight, observable, relationship, reports, resolve, search, writes]
    .flatMap((module) => Object.entries(module as Record<string, unknown>))
    .filter((entry): entry is [string, string] => typeof entry[1] === "string" && /^(query|mutation) /.test(entry[1])),
  ...[...CREATABLE_TYPES].map(([type, creatable]) => [`create ${type}`, entity.createDocumentOf(creatable)] as const),
  ...Object.values(observable.OBSERVABLE_KINDS).map(
    (kind) => [`create ${kind.type}`, observable.createDocumentOf(kind)] as const,
  ),
];
