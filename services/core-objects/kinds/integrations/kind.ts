import { IntegrationSchema, IntegrationService, IntegrationType } from "#proto/core/v1/integration_service_pb.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { unary } from "../../../shared/rpc/method.js";
import { connectionOf, withoutSecret } from "../../objects/connection.js";
import { defineKind } from "../../objects/define-kind.js";
import { given } from "../../objects/given.js";
import { listAfter } from "../../objects/list-after.js";
import { keptCredential, keptCredentialAfter } from "./credential.js";
import { keptEndpoint } from "./endpoint.js";
import type { IntegrationRecord } from "./record.js";
import { testIntegration } from "./test-integration.js";

const { listIntegrations, getIntegration, createIntegration, updateIntegration, deleteIntegration, ...more } =
  IntegrationService.method;

const WITHOUT =
  "its credential was deleted, and it is disabled: set a credential and enable it with update_integration";

const TYPES = { openai: IntegrationType.OPENAI } as const;

function modelsAfter(current: readonly string[], add: readonly string[], remove: readonly string[]): readonly string[] {
  const models = listAfter(current, add, remove);
  if (models.length === 0)
    throw invalidArgument("an integration needs at least one model: add another in the same call");
  return models;
}

/** Integrations: services that models come from, each with an endpoint and a credential. */
export const kind = defineKind({
  noun: "integration",
  plural: "integrations",
  message: IntegrationSchema,
  limits: { models: 50 },
  view: (record: IntegrationRecord) => ({
    type: TYPES[record.type],
    endpoint: record.endpoint,
    models: [...record.models],
    hasCredential: record.sealed !== "",
    credentialEndsWith: record.ends_with === "" ? undefined : record.ends_with,
    ...connectionOf(record),
  }),
  reseal: ({ sealed }, again) => (sealed === "" ? {} : { sealed: again(sealed, "sealed") }),
  list: {
    rpc: listIntegrations,
    without: ["endpoint"],
    hidden: [
      ...(["models", "hasCredential", "credentialEndsWith", "connectionError", "testedAt"] as const),
      ...(["owner", "sharing", "etag", "createdAt", "updatedAt"] as const),
    ],
  },
  get: { rpc: getIntegration },
  create: {
    rpc: createIntegration,
    // The only type there is: the rules of the message refuse others.
    content: ({ endpoint, models, credential }, writer) => ({
      type: "openai" as const,
      endpoint: keptEndpoint(endpoint, writer),
      models: listAfter([], models),
      ...keptCredential(credential, writer),
    }),
  },
  update: {
    rpc: updateIntegration,
    changes(request, current, writer) {
      const endpoint = request.endpoint === undefined ? current.endpoint : keptEndpoint(request.endpoint, writer);
      const { name, credential, removeCredential: remove } = request;
      return {
        ...given({ name }),
        endpoint,
        models: modelsAfter(current.models, request.addModels, request.removeModels),
        ...keptCredentialAfter(current, { endpoint, credential, remove }, writer),
        // It said something of what was there before.
        ...((endpoint !== current.endpoint || credential !== undefined || remove) && { connection: null }),
      };
    },
  },
  delete: { rpc: deleteIntegration },
  leaving: {
    reads: ["sealed"],
    holdsSecret: ({ sealed }) => sealed !== "",
    passed: ({ sealed }) => (sealed === "" ? undefined : withoutSecret({ sealed: "", ends_with: "" }, WITHOUT)),
  },
  commands: (context) => [unary(more.testIntegration, (request, call) => testIntegration(context, request, call))],
});
