import * as opencti from "../../../../services/platform-proxy/adapters/opencti.js";
import * as annotation from "../../../../services/platform-proxy/bindings/cti/annotation-service.js";
import * as container from "../../../../services/platform-proxy/bindings/cti/container-service.js";
import * as entity from "../../../../services/platform-proxy/bindings/cti/entity-service.js";
import { CREATABLE_TYPES } from "../../../../services/platform-proxy/bindings/cti/entity-types.js";
import * as insight from "../../../../services/platform-proxy/bindings/cti/insight-service.js";
import * as observable from "../../../../services/platform-proxy/bindings/cti/observable-service.js";
import * as relationship from "../../../../services/platform-proxy/bindings/cti/relationship-service.js";
import * as reports from "../../../../services/platform-proxy/bindings/cti/reports.js";
import * as resolve from "../../../../services/platform-proxy/bindings/cti/resolve.js";
import * as search from "../../../../services/platform-proxy/bindings/cti/search-service.js";
import * as writes from "../../../../services/platform-proxy/bindings/cti/writes.js";

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
