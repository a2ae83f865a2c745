import { IntegrationSchema, IntegrationService, IntegrationType } from "#proto/core/v1/integration_service_pb.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { defineKind } from "../../objects/define-kind.js";
import { given } from "../../objects/given.js";
import { listAfter } from "../../objects/list-after.js";
import { keptCredential, keptCredentialAfter } from "./credential.js";
import { keptEndpoint } from "./endpoint.js";
import type { IntegrationRecord } from "./record.js";

const { listIntegrations, getIntegration, createIntegration, updateIntegration, deleteIntegration } =
  IntegrationService.method;

const TYPES = { openai: IntegrationType.OPENAI } as const;

function modelsAfter(current: readonly string[], add: readonly string[], remove: readonly string[]): string[] {
  const models = listAfter(current, add, remove);
  if (models.length === 0) throw invalidArgument("an integration has at least one model: add another in the same call");
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
  }),
  reseal: ({ sealed }, again) => (sealed === "" ? {} : { sealed: again(sealed, "sealed") }),
  list: {
    rpc: listIntegrations,
    without: ["endpoint"],
    hidden: ["models", "hasCredential", "credentialEndsWith", "owner", "sharing", "etag", "createdAt", "updatedAt"],
  },
  get: { rpc: getIntegration },
  create: {
    rpc: createIntegration,
    // The only type there is: the rules of the message refuse others.
    content: ({ endpoint, models, credential }, writer) => ({
      type: "openai" as const,
      endpoint: keptEndpoint(endpoint),
      models: listAfter([], models),
      ...keptCredential(credential, writer),
    }),
  },
  update: {
    rpc: updateIntegration,
    changes(request, current, writer) {
      const endpoint = request.endpoint === undefined ? current.endpoint : keptEndpoint(request.endpoint);
      const { name, credential, removeCredential: remove } = request;
      return {
        ...given({ name }),
        endpoint,
        models: modelsAfter(current.models, request.addModels, request.removeModels),
        ...keptCredentialAfter(current, { endpoint, credential, remove }, writer),
      };
    },
  },
  delete: { rpc: deleteIntegration },
});
